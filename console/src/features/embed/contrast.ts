const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export const isColour = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

/** The contrast of two colours after WCAG 2.2, from 1 to 21. */
export function contrast(colour: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(colour), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function mix(colour: string, other: string, share: number): string {
  const to = channels(other);
  const mixed = channels(colour).map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const STEPS = 50;

/** The colour nearest to this one, towards black or white, that has at least this contrast to another. */
export function passing(colour: string, other: string, least: number): string {
  for (let step = 0; step <= STEPS; step++)
    for (const end of ["#000000", "#ffffff"]) {
      const tried = mix(colour, end, step / STEPS);
      if (contrast(tried, other) >= least) return tried;
    }
  return colour;
}
