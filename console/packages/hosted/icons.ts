import { createSvgElement } from "@retinue/widget/drawing";

const ICONS = {
  copy: ["M9 9h11v11H9Z", "M5 15H4V4h11v1"],
  up: ["M7 11v9H4v-9Z", "M7 11l4-8a2.4 2.4 0 0 1 2.4 3L13 9h6a2 2 0 0 1 2 2.3l-1.1 7a2 2 0 0 1-2 1.7H7"],
  down: ["M17 13V4h3v9Z", "M17 13l-4 8a2.4 2.4 0 0 1-2.4-3L11 15H5a2 2 0 0 1-2-2.3l1.1-7A2 2 0 0 1 6.1 4H17"],
  mic: ["M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Z", "M5 11a7 7 0 0 0 14 0", "M12 18v3"],
  person: ["M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z", "M4.5 20a7.5 7.5 0 0 1 15 0"],
  lock: ["M6 11h12v9H6Z", "M9 11V8a3 3 0 0 1 6 0v3"],
};
export type PageIcon = keyof typeof ICONS;

export function createPageIcon(name: PageIcon, size = 16): SVGElement {
  const attributes = { class: "icon", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" };
  return createSvgElement("svg", attributes, ...ICONS[name].map((d) => createSvgElement("path", { d })));
}
