/** The four dots of Retinue. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden style={{ flex: "none" }}>
      <circle cx="15.2" cy="8" r="5" fill="currentColor" />
      <circle cx="6.6" cy="12.6" r="3" fill="currentColor" opacity=".72" />
      <circle cx="13" cy="17.6" r="2.2" fill="currentColor" opacity=".5" />
      <circle cx="6.4" cy="19.6" r="1.5" fill="currentColor" opacity=".34" />
    </svg>
  );
}
