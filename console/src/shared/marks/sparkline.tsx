/** A curve as high as a line of text. */
export function Sparkline({
  of,
  tone,
  width = 72,
  height = 20,
  label,
}: {
  of: number[];
  tone?: "bad" | "blue";
  width?: number;
  height?: number;
  label: string;
}) {
  // Costs are often far below 1: only a row of zeros has no greatest value.
  const max = Math.max(...of) || 1;
  const x = (i: number) => (i / Math.max(of.length - 1, 1)) * (width - 2) + 1;
  const y = (value: number) => height - 2 - (value / max) * (height - 4);
  const line = of.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const colour = tone === "bad" ? "var(--r-bad-dot)" : tone === "blue" ? "var(--r-blue)" : "var(--r-ink-3)";
  return (
    <svg role="img" aria-label={label} width={width} height={height} style={{ display: "block", overflow: "visible" }}>
      <path d={`${line}L${x(of.length - 1)} ${height}L1 ${height}Z`} fill={colour} opacity=".1" />
      <path d={line} fill="none" stroke={colour} strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" />
      <circle cx={x(of.length - 1)} cy={y(of.at(-1) ?? 0)} r="2" fill={colour} />
    </svg>
  );
}
