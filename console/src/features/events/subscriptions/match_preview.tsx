import { useQuery } from "@tanstack/react-query";
import { createTranslator } from "../../../shared/i18n/words";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import { formatTimeOfDay } from "../../../shared/time";
import { describeEvent } from "../event_words";
import style from "../events.module.css";
import { type EventData, lastEventsQuery } from "../queries";
import en from "../words.en.json";
import { matchesConditions, matchesEventType } from "./matching";

const say = createTranslator(en, "features/events");
const SHOWN = 8;

/** Which of the last events would have been matched, by the server's rules. */
export function MatchPreview({ type, filters }: { type: string; filters: EventData }) {
  const last = useQuery(lastEventsQuery(type));
  const events = last.data ?? [];
  const isHit = events.map(
    (event) => matchesEventType(type, event.type) && !event.redacted && matchesConditions(filters, event.data),
  );
  const hits = events.filter((_, place) => isHit[place]);
  return (
    <aside className={style.hits} aria-label={say("matches")}>
      {!type && <p className={`t-13 t-2 ${style.count}`}>{say("chooseType")}</p>}
      {type && last.error && <FailureState error={last.error} onRetry={() => void last.refetch()} />}
      {type && last.isPending && <RowSkeletons rows={3} columns={[60, 180]} />}
      {type && last.data && (
        <>
          <div className={style.count} role="status">
            <b className="t-600">{say("matchesOf", { hits: hits.length, count: events.length })}</b>
            <div className={style.dots} aria-hidden>
              {events.map(({ id }, place) => (
                <i key={id} data-hit={isHit[place] || undefined} />
              ))}
            </div>
            <span className="t-12 t-3">{say(events.length ? "matchesHint" : "neverHappened")}</span>
          </div>
          {hits.slice(0, SHOWN).map((event) => (
            <div key={event.id} className={style.hit}>
              <span className="t-12 t-3 num">{formatTimeOfDay(event.created_at)}</span>
              <span className="cut">{describeEvent(event)}</span>
            </div>
          ))}
        </>
      )}
    </aside>
  );
}
