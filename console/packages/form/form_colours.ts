import { relativeLuminance } from "@retinue/colours";

/** The luminance at which black and white text have the same contrast. */
const MIDDLE_LUMINANCE = 0.179;

/** Parse `#abc` or `#aabbcc` into three channels, ignoring transparency; null for anything else. */
export function parseColourText(text: unknown): number[] | null {
  if (typeof text !== "string" || !/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return null;
  const isShort = text.length < 6;
  const pairs = isShort ? [...text.slice(1, 4)].map((digit) => digit + digit) : text.slice(1, 7).match(/../g);
  return (pairs ?? []).map((pair) => Number.parseInt(pair, 16));
}

export const formatColourChannels = (channels: number[]) => `rgb(${channels.join(" ")})`;

export const findReadableTextColour = (channels: number[]) =>
  relativeLuminance(channels) > MIDDLE_LUMINANCE ? "#000" : "#fff";
