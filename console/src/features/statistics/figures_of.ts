import type { Breakdown } from "./queries";

export type { Breakdown };

type Rated = Pick<Breakdown, "successful_messages" | "failed_messages" | "positive_feedback" | "negative_feedback">;
const computeShare = (part: number, other: number) => (part + other ? part / (part + other) : null);

/** What the period cost: null if no call had a known price, and how many calls the sum leaves out. */
export function summarizeCost({ estimated_cost_usd: usd, unpriced_calls: unpriced, models }: Breakdown) {
  const calls = models.reduce((sum, one) => sum + one.calls, 0);
  return { usd: unpriced > 0 && unpriced >= calls && usd === 0 ? null : usd, unpriced, calls };
}

/** How many of the chats ended without an error, and of the rated replies were liked; null without any. */
export const computeRatingShares = (stats: Rated) => ({
  success: computeShare(stats.successful_messages, stats.failed_messages),
  liked: computeShare(stats.positive_feedback, stats.negative_feedback),
});

/** Calls of tools that the log does not name: of entries that keep no calls, or that are deleted. */
export const countUnnamedCalls = ({ tool_calls: all, tools }: Breakdown) =>
  Math.max(0, all - tools.reduce((sum, one) => sum + one.calls, 0));
