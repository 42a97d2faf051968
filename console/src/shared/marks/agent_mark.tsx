import { hueOf, seedOf } from "./hues";

/** Every agent has a constellation of its own: one that leads and three that follow, placed and coloured by its id. */
export function AgentMark({ id, size = 30 }: { id: string; size?: number }) {
  const seed = seedOf(id);
  const turn = (seed % 8) * 45 + 20;
  const dots: [number, number, number, number][] = [
    [5.4, 3.9, 0, 1],
    [6.2, 2.7, 125 + (seed % 30), 0.72],
    [6.4, 2, 205 + (seed % 40), 0.5],
    [7, 1.4, 280, 0.4],
  ];
  return (
    <span className={`agent-mark k-${hueOf(id)}`} style={{ width: size, height: size }}>
      <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden>
        {dots.map(([away, r, at, opacity], i) => {
          const rad = ((turn + at) * Math.PI) / 180;
          return (
            <circle
              key={i}
              cx={12 + Math.cos(rad) * away * 0.82}
              cy={12 + Math.sin(rad) * away * 0.82}
              r={r}
              fill="currentColor"
              opacity={opacity}
            />
          );
        })}
      </svg>
    </span>
  );
}
