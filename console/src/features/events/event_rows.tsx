import ArrowUp from "icon:arrow-up";
import { Button } from "@mantine/core";
import { memo, type UIEvent, useRef, useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusPill } from "../../shared/marks/status";
import { formatExactTime } from "../../shared/time";
import { describeEvent, eventKindOf, formatLogTime } from "./event_words";
import style from "./events.module.css";
import type { LoggedEvent } from "./queries";
import { isTailFull, MOST_ROWS, type Tail } from "./tail";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");
const ROW_PX = 36;
const BEYOND_ROWS = 12;
const SHOWN_ROWS = 40;

type Props = {
  tail: Tail;
  chosen?: string;
  isAllRead: boolean;
  isReading: boolean;
  onChoose: (id: string) => void;
  onReadMore: () => void;
  onHold: () => void;
  onRelease: () => void;
};

/** The rows in sight and some around them. Scrolling away from the newest holds the log. */
export function EventRows({ tail, chosen, isAllRead, isReading, onChoose, onReadMore, onHold, onRelease }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, count: SHOWN_ROWS });
  const { rows, held, isHeld, fresh } = tail;
  const handleScroll = ({ currentTarget: { scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - BEYOND_ROWS);
    const count = Math.ceil(clientHeight / ROW_PX) + 2 * BEYOND_ROWS;
    if (first !== view.first || count !== view.count) setView({ first, count });
    if (scrollTop > ROW_PX) onHold();
  };
  const goToNewest = () => {
    onRelease();
    list.current?.scrollTo({ top: 0 });
  };
  const shown = rows.slice(view.first, view.first + view.count);
  return (
    <div className={style.frame}>
      {isHeld && held.length > 0 && (
        <Button className={style.newer} size="xs" leftSection={<ArrowUp size={13} />} onClick={goToNewest}>
          {say("newer", { count: held.length })}
        </Button>
      )}
      <div
        ref={list}
        className={style.tail}
        role="log"
        aria-label={say("title")}
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        tabIndex={0}
        onScroll={handleScroll}
      >
        <div style={{ height: view.first * ROW_PX }} />
        {shown.map((event) => (
          <EventRow
            key={event.id}
            event={event}
            isChosen={event.id === chosen}
            isFresh={fresh.has(event.id)}
            onChoose={onChoose}
          />
        ))}
        <div style={{ height: Math.max(0, rows.length - view.first - shown.length) * ROW_PX }} />
        <div className={style.end}>
          {isTailFull(tail) ? (
            <span className="t-12 t-3">{say("tailFull", { count: MOST_ROWS })}</span>
          ) : isAllRead ? (
            <span className="t-12 t-3">{say("keptFor")}</span>
          ) : (
            <Button size="xs" variant="default" loading={isReading} onClick={onReadMore}>
              {say("older")}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

type RowProps = { event: LoggedEvent; isChosen: boolean; isFresh: boolean; onChoose: (id: string) => void };

const EventRow = memo(function EventRow({ event, isChosen, isFresh, onChoose }: RowProps) {
  return (
    <button
      type="button"
      className={style.event}
      aria-current={isChosen ? "true" : undefined}
      data-new={isFresh || undefined}
      onClick={() => onChoose(event.id)}
    >
      <span className="mono t-12 t-3" title={formatExactTime(event.created_at)}>
        {formatLogTime(event.created_at)}
      </span>
      <KindIcon kind={eventKindOf(event)} small />
      <span className="row g6">
        <span className="cut">{event.type}</span>
        {event.test && <StatusPill>{say("test")}</StatusPill>}
      </span>
      <span className="t-12 t-3 cut wide">{event.redacted ? say("redacted") : describeEvent(event)}</span>
    </button>
  );
});
