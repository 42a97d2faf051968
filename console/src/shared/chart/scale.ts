const MAX_LABELS = 7;
const NICE_STEPS = [1, 2, 5, 10];

/** Lines of a chart from 0 to just above the largest value, at round numbers; `parts` is how many at most. */
export function computeTicks(max: number, parts = 3): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / parts;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = (NICE_STEPS.find((nice) => nice * unit >= rough * 0.999999) ?? 10) * unit;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => i * step);
}

/** Return the positions that carry a label: at most seven, evenly spaced, and always the last one. */
export function chooseLabelledPlaces(count: number): number[] {
  const step = Math.max(1, Math.ceil(count / MAX_LABELS));
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => count - 1 - i * step).reverse();
}

/** Lines through the known values; where values are missing, the line is interrupted. */
export function drawSvgPath(
  values: (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let isOpen = false;
  values.forEach((value, at) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    const place = `${x(at).toFixed(2)} ${y(value).toFixed(2)}`;
    // A value between two gaps is a line without length, which its round ends make a dot.
    path += isOpen ? `L${place}` : `M${place}L${place}`;
    isOpen = true;
  });
  return path;
}

/** The values that have no neighbour: a line needs two, so these are drawn as dots. */
export const findLonePoints = (values: (number | null)[]) =>
  values.map((value, at) => ((values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? value : null));
