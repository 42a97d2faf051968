import type { Turn } from "../../shared/chat/chat";
import type { TurnTrace } from "./queries";

/** A turn is traced a moment before or after its question is stored. */
const SLACK_MS = 1000;
const turnTimeMs = (turn: Turn) => Date.parse(turn.askedAt ?? "");

/** The turn of a trace: the one with its reply; of a reply that was never stored, the question nearest in time. */
function findTurnPlace(trace: TurnTrace, turns: Turn[]): number {
  const at = turns.findIndex(({ stop }) => stop?.trace_id === trace.trace_id);
  if (at >= 0) return at;
  const started = Date.parse(trace.started_at);
  const distanceMs = (turn: Turn) => Math.abs(turnTimeMs(turn) - started);
  const open = turns.filter((turn) => !turn.stop?.trace_id && turnTimeMs(turn));
  const nearest = open.toSorted((a, b) => distanceMs(a) - distanceMs(b))[0];
  // A trace of before the first turn that is shown belongs to none of them.
  return nearest && started >= turnTimeMs(turns[0] ?? nearest) - SLACK_MS ? turns.indexOf(nearest) : -1;
}

/** For each trace, oldest first, the number of its question in the conversation, and the question. */
export function numberTurns(traces: TurnTrace[], turns: Turn[], hiddenTurns: number) {
  let next = hiddenTurns + 1;
  return traces
    .toReversed()
    .map((trace) => {
      const at = findTurnPlace(trace, turns);
      const number = at >= 0 ? hiddenTurns + at + 1 : Math.max(1, next - 1);
      next = number;
      return { trace, number, question: turns[at]?.question ?? "" };
    })
    .toReversed();
}
