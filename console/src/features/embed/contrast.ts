import { contrastRatio, parseColourChannels } from "@retinue/colours";

function mixColours(colour: string, other: string, share: number): string {
  const to = parseColourChannels(other);
  const mixed = parseColourChannels(colour).map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

const STEPS = 50;

/** The colour nearest to this one, towards black or white, that has at least this contrast to another. */
export function findNearestReadableColour(colour: string, other: string, least: number): string {
  for (let step = 0; step <= STEPS; step++)
    for (const end of ["#000000", "#ffffff"]) {
      const tried = mixColours(colour, end, step / STEPS);
      if (contrastRatio(tried, other) >= least) return tried;
    }
  return colour;
}
