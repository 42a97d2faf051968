/** A curve as high as a line of text. */
export function Sparkline({
  values,
  tone,
  width = 72,
  height = 20,
  label,
}: {
  values: number[];
  tone?: "bad" | "blue";
  width?: number;
  height?: number;
  label: string;
}) {
  // Costs are often far below 1: only a row of zeros has no greatest value.
  const max = Math.max(...values) || 1;
  const xOfIndex = (i: number) => (i / Math.max(values.length - 1, 1)) * (width - 2) + 1;
  const yOfValue = (value: number) => height - 2 - (value / max) * (height - 4);
  const line = values
    .map((value, i) => `${i ? "L" : "M"}${xOfIndex(i).toFixed(1)} ${yOfValue(value).toFixed(1)}`)
    .join("");
  const colour = tone === "bad" ? "var(--r-bad-dot)" : tone === "blue" ? "var(--r-blue)" : "var(--r-ink-3)";
  return (
    <svg role="img" aria-label={label} width={width} height={height} style={{ display: "block", overflow: "visible" }}>
      <path d={`${line}L${xOfIndex(values.length - 1)} ${height}L1 ${height}Z`} fill={colour} opacity=".1" />
      <path d={line} fill="none" stroke={colour} strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
      <circle cx={xOfIndex(values.length - 1)} cy={yOfValue(values.at(-1) ?? 0)} r="2" fill={colour} />
    </svg>
  );
}
