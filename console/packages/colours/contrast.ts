/* Contrast after WCAG 2.2. A colour is `#rrggbb`; anything else is not one. */

const COLOUR = /^#[0-9a-f]{6}$/i;

export const isColour = (text: string | null | undefined): text is string => COLOUR.test(text ?? "");

export const parseColourChannels = (colour: string) =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

/** The relative luminance of a colour, from 0 to 1. */
export function relativeLuminance(channels: number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours, from 1 to 21. */
export function contrastRatio(colour: string, other: string): number {
  const [light = 0, dark = 0] = [colour, other]
    .map((one) => relativeLuminance(parseColourChannels(one)))
    .sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Our black or white, the one that can be read better on this colour. */
export const readableTextColour = (colour: string) =>
  contrastRatio(colour, "#ffffff") >= contrastRatio(colour, "#1a1815") ? "#ffffff" : "#1a1815";
