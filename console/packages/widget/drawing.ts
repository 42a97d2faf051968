/* Icons and the agent's mark as elements, so that nothing is loaded and nothing is parsed as markup. */

import { createElement } from "@retinue/elements";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  chat: ["M21 12a8 8 0 0 1-8 8H4l2.2-3A8 8 0 1 1 21 12Z"],
  close: ["M18 6 6 18", "m6 6 12 12"],
  down: ["m6 9 6 6 6-6"],
  anew: ["M12 5v14", "M5 12h14"],
  send: ["M12 19V5", "m5 12 7-7 7 7"],
  clip: ["m20 11.5-8.2 8.2a5 5 0 0 1-7.1-7.1l8.6-8.6a3.4 3.4 0 0 1 4.8 4.8l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8"],
  page: ["M14 3H6v18h12V7Z", "M14 3v4h4"],
  stop: ["M7 7h10v10H7Z"],
};
export type IconName = keyof typeof ICONS;
const HUES = ["model", "know", "tool", "sub", "flow", "form", "wait"];

export function createSvgElement(
  tag: string,
  attributes: Record<string, string | number>,
  ...children: Node[]
): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function createWidgetIcon(name: IconName, size = 18): SVGElement {
  const attributes = { class: "icon", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" };
  return createSvgElement("svg", attributes, ...ICONS[name].map((d) => createSvgElement("path", { d })));
}

/** The places of the four dots of an agent, and its hue: one leads and three follow, by its id. */
function drawConstellation(id: string) {
  let seed = 11;
  for (const letter of id) seed = Math.imul(seed ^ letter.charCodeAt(0), 16777619) >>> 0;
  const turn = (seed % 8) * 45 + 20;
  const dots: [away: number, radius: number, at: number, opacity: number][] = [
    [5.4, 3.9, 0, 1],
    [6.2, 2.7, 125 + (seed % 30), 0.72],
    [6.4, 2, 205 + (seed % 40), 0.5],
    [7, 1.4, 280, 0.4],
  ];
  return {
    hue: HUES[(seed >>> 7) % HUES.length],
    dots: dots.map(([away, radius, at, opacity]) => {
      const angle = ((turn + at) * Math.PI) / 180;
      const roundPlace = (turned: number) => Number((12 + turned * away * 0.82).toFixed(2));
      return { x: roundPlace(Math.cos(angle)), y: roundPlace(Math.sin(angle)), radius, opacity };
    }),
  };
}

export function createAgentMark(id: string, size = 28): HTMLElement {
  const { hue, dots } = drawConstellation(id);
  const circles = dots.map(({ x, y, radius, opacity }) =>
    createSvgElement("circle", { cx: x, cy: y, r: radius, opacity, fill: "currentColor" }),
  );
  const drawn = createSvgElement("svg", { viewBox: "0 0 24 24", width: size, height: size }, ...circles);
  return createElement("span", { class: `mark ${hue}`, "aria-hidden": "true" }, drawn);
}
