import type { components } from "../../api/schema";

type Message = Pick<components["schemas"]["MessageOut"], "details">;

/**
 * The trace beside a conversation: that of the address, else that of the last reply. `isAsked` says whether the address
 * names it, by its id or, as a line of a log does, by its correlation id.
 */
export function findChosenTrace(messages: Message[], turn?: string, correlation?: string) {
  const traced = messages.filter((message) => message.details?.trace_id);
  const asked = traced.find((message) => correlation && message.details?.correlation_id === correlation);
  const shown = asked ?? (correlation ? undefined : traced.at(-1));
  return { chosen: turn ?? shown?.details?.trace_id ?? undefined, isAsked: Boolean(turn ?? asked) };
}
