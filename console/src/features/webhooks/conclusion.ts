import type { Delivery } from "./queries";

/** What the deliveries of a page say together about one that has not arrived. */
export type Conclusion = { kind: "receiverDown" | "onlyThis" | "tooSlow" | "mixed"; count: number; answer: string };

const hasFailed = ({ status, attempt }: Delivery) => status === "failed" || (status === "pending" && attempt > 0);
const answerOf = ({ response_code, error }: Delivery) => String(response_code ?? error ?? "");

/** Whether the receiver is down, slow, or does not like this one event: the newest of them are told apart. */
export function drawConclusion(shown: Delivery, rows: readonly Delivery[]): Conclusion | undefined {
  if (!hasFailed(shown)) return undefined;
  const refused = rows.filter(hasFailed);
  const answers = new Set(refused.map(answerOf));
  const answer = answerOf(shown);
  const arrivedAfter = rows.some((one) => one.status === "delivered" && one.created_at > shown.created_at);
  const count = refused.length;
  if (answers.size <= 1 && answer === "timeout") return { kind: "tooSlow", count, answer };
  if (count > 1 && answers.size === 1 && !arrivedAfter) return { kind: "receiverDown", count, answer };
  if (arrivedAfter && refused.filter((one) => one.event_type === shown.event_type).length === 1)
    return { kind: "onlyThis", count: 1, answer };
  return { kind: "mixed", count, answer };
}
