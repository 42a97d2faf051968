import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CSSProperties } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { JsonView } from "../../shared/marks/json_view";
import { KindIcon } from "../../shared/marks/kind_icon";
import { Note } from "../../shared/patterns/note";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDuration, formatExactTime } from "../../shared/time";
import { growEventTree } from "./event_tree";
import { eventKindOf } from "./event_words";
import style from "./events.module.css";
import { eventTraceQuery, type LoggedEvent, loggedEventQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");
const DATA_HEIGHT = 320;

type Props = { id: string; onChoose: (id: string) => void; onClose: () => void };

/** One event: what came of it, who caused it, and its data. */
export function EventPanel({ id, onChoose, onClose }: Props) {
  const { data: event, error, refetch } = useQuery(loggedEventQuery(id));
  return (
    <SidePanel
      label={event?.type ?? id}
      icon={event && <KindIcon kind={eventKindOf(event)} small />}
      title={event?.type ?? "…"}
      subtitle={event && formatExactTime(event.created_at)}
      onClose={onClose}
    >
      {error && !event && <FailureState error={error} onRetry={() => void refetch()} />}
      {!event && !error && <RowSkeletons rows={4} columns={[90, 200]} />}
      {event && <EventDetails event={event} onChoose={onChoose} />}
    </SidePanel>
  );
}

const namePart = ({ type, id }: LoggedEvent["source"]) => [type, id].filter(Boolean).join(" ");

function EventDetails({ event, onChoose }: { event: LoggedEvent; onChoose: (id: string) => void }) {
  return (
    <>
      {event.test && <Note>{say("isTest")}</Note>}
      <FactList
        facts={[
          [say("about"), namePart(event.source)],
          [say("causedBy"), namePart(event.actor)],
        ]}
      />
      <EventTrace event={event} onChoose={onChoose} />
      <section className="stack g8">
        <h3 className="t-sec">{say("data")}</h3>
        {event.redacted && <Note>{say("redacted")}</Note>}
        <JsonView value={event.data} max={DATA_HEIGHT} />
      </section>
      <CopyableId>{event.id}</CopyableId>
    </>
  );
}

/** Everything with the same correlation id, as a tree, with the time since the first of it. */
function EventTrace({ event, onChoose }: { event: LoggedEvent; onChoose: (id: string) => void }) {
  const { data: trace, error, refetch } = useQuery(eventTraceQuery(event.correlation_id));
  if (error) return <FailureState error={error} onRetry={() => void refetch()} />;
  return (
    <section className="stack g8">
      <div className={style.traceHead}>
        <h3 className="t-sec">{say("cameOfIt")}</h3>
        <CopyableId>{event.correlation_id}</CopyableId>
      </div>
      {!trace && <RowSkeletons rows={3} columns={[20, 200]} />}
      <ol className={style.tree}>
        {growEventTree(trace?.events ?? []).map(({ event: one, depth, afterMs }) => (
          <li key={one.id} style={{ "--d": depth } as CSSProperties}>
            <button
              type="button"
              aria-current={one.id === event.id ? "true" : undefined}
              onClick={() => onChoose(one.id)}
            >
              <KindIcon kind={eventKindOf(one)} small />
              <span className="cut grow">{one.type}</span>
              <span className="num t-12 t-3">{afterMs ? `+${formatDuration(afterMs)}` : "0 ms"}</span>
            </button>
          </li>
        ))}
      </ol>
      {trace && trace.total > trace.events.length && (
        <p className="t-12 t-3">{say("moreInTrace", { count: trace.total - trace.events.length })}</p>
      )}
      <Link className="inline-link t-13" to="/events" search={{ correlation: event.correlation_id, event: event.id }}>
        {say("onlyThese")}
      </Link>
    </section>
  );
}
