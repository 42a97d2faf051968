import type { TimedTurn } from "./comparison";

export type FigureName = "time" | "firstWord" | "tokens" | "cached" | "cost";
export type ReplyFigures = Partial<Record<FigureName, number>>;
export type FigureVerdict = "better" | "worse" | undefined;

const HIGHER_IS_BETTER: FigureName[] = ["cached"];
/** More tokens may be a better answer, so nobody judges them. */
const UNJUDGED: FigureName[] = ["tokens"];
const NOTABLE = 1.1;

export function computeReplyFigures(turn?: TimedTurn): ReplyFigures {
  if (!turn) return {};
  const usage = turn.stop?.usage;
  const cost = turn.stop?.estimated_cost_usd;
  return {
    ...(turn.totalMs === undefined ? {} : { time: turn.totalMs }),
    ...(turn.firstWordMs === undefined ? {} : { firstWord: turn.firstWordMs }),
    ...(usage ? { tokens: usage.total_tokens } : {}),
    ...(usage?.prompt_tokens ? { cached: usage.cached_tokens / usage.prompt_tokens } : {}),
    ...(typeof cost === "number" ? { cost } : {}),
  };
}

/** Whether a figure stands out: the best and the worst do, if they differ by more than a tenth. */
export function compareFigure(name: FigureName, own: number | undefined, all: (number | undefined)[]): FigureVerdict {
  const known = all.filter((value) => value !== undefined);
  if (own === undefined || known.length < 2 || UNJUDGED.includes(name)) return;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (high <= low * NOTABLE) return;
  const isHigherBetter = HIGHER_IS_BETTER.includes(name);
  if (own === low) return isHigherBetter ? "worse" : "better";
  if (own === high) return isHigherBetter ? "better" : "worse";
}
