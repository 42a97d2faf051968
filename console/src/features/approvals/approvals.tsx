import Check from "icon:check";
import Clock from "icon:clock";
import TriangleAlert from "icon:triangle-alert";
import { Kbd, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, timeSince } from "../../shared/time";
import style from "./approvals.module.css";
import { Detail } from "./detail";
import { STATUS_TONES, statusWord, useName } from "./people";
import { type Approval, approvalsQuery, MAX_ROWS, SHOWS, type Show } from "./queries";
import { SourceMark } from "./source_mark";
import { TimeLeft } from "./time_left";
import { isPhone, useShown } from "./use_shown";
import en from "./words.en.json";

const say = words(en, "features/approvals");
const SOON_MS = 3_600_000;
const EMPTY = { mine: say("empty"), all: say("emptyAll"), decided: say("emptyDecided") };

export default function Approvals() {
  const { show = "mine", id } = useSearch({ from: "/frame/approvals" });
  const navigate = useNavigate();
  const may = useMay();
  const [notice, setNotice] = useState<Notice>();
  const mine = useQuery(approvalsQuery("mine"));
  const { list, other, shown: chosen, isOpen, hasEnded, forget } = useShown(show, id);
  const rows = list.data;
  const go = (next: { show?: Show; id?: string }) =>
    void navigate({
      to: "/approvals",
      search: {
        ...(next.show && next.show !== "mine" ? { show: next.show } : {}),
        ...(next.id ? { id: next.id } : {}),
      },
      replace: true,
    });
  const move = (step: number) => {
    const at = rows?.findIndex((one) => one.id === chosen?.id) ?? -1;
    const next = rows?.[at + step];
    if (next) go({ show, id: next.id });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  const onDecided = (text: string) => {
    const at = rows?.findIndex((one) => one.id === chosen?.id) ?? -1;
    const next = rows?.[at + 1] ?? rows?.[at - 1];
    setNotice({ text });
    forget();
    // On a phone the list is the way on; beside it, the next one is chosen.
    go({ show, id: isPhone() ? undefined : next?.id });
  };
  const mayDecide = may("approvals:decide") && Boolean(mine.data?.some((one) => one.id === chosen?.id));
  return (
    <>
      <Bar title={say("title")} after={<Count show={show} rows={rows} />}>
        <SegmentedControl
          aria-label={say("show")}
          data={SHOWS.map((value) => ({ value, label: say(value) }))}
          value={show}
          onChange={(value) => go({ show: SHOWS.find((one) => one === value) })}
        />
      </Bar>
      <div role="status">{notice && <NoticeLine {...notice} />}</div>
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[30, 300, 60]} />
      ) : rows.length === 0 && !isOpen ? (
        <Empty title={say(show === "decided" ? "emptyDecidedTitle" : "emptyTitle")}>{EMPTY[show]}</Empty>
      ) : (
        <div className={`${style.split} ${id ? style.open : ""}`}>
          <List rows={rows} chosen={chosen?.id} onChoose={(next) => go({ show, id: next })} />
          {chosen ? (
            <Detail
              key={chosen.id}
              approval={chosen}
              mayDecide={mayDecide}
              hasEnded={hasEnded}
              onBack={() => go({ show })}
              onDecided={onDecided}
              onGone={(text) => {
                setNotice({ text, isBad: true });
                // What was decided by someone else is no longer in the list, but is still shown.
                go({ show, id: chosen.id });
              }}
            />
          ) : (
            other.error && <Failure error={other.error} onRetry={() => void other.refetch()} />
          )}
        </div>
      )}
    </>
  );
}

type Notice = { text: string; isBad?: boolean };

/** What has become of the request that was decided last. */
const NoticeLine = ({ text, isBad }: Notice) => (
  <p className={`${style.done} ${isBad ? style.gone : ""}`}>
    {isBad ? <TriangleAlert size={15} /> : <Check size={15} />}
    {text}
  </p>
);

/** How many wait in the list below: for this person, or at all. What is decided is a history, and not counted. */
function Count({ show, rows }: { show: Show; rows?: Approval[] }) {
  if (!rows?.length || show === "decided") return null;
  const count = rows.length >= MAX_ROWS ? `${MAX_ROWS}+` : rows.length;
  return <span className="t-3 num t-13 fix">{say(show === "mine" ? "countMine" : "countAll", { count })}</span>;
}

function List({ rows, chosen, onChoose }: { rows: Approval[]; chosen?: string; onChoose: (id: string) => void }) {
  return (
    <section className={style.list} aria-label={say("list")}>
      <ul>
        {rows.map((one) => (
          <li key={one.id}>
            <Item approval={one} isChosen={one.id === chosen} onChoose={() => onChoose(one.id)} />
          </li>
        ))}
      </ul>
      {rows.length > 1 && (
        <p className={`${style.keys} t-12 t-3 row g6 wide`}>
          {say("keys")} <Kbd>J</Kbd> <Kbd>K</Kbd>
        </p>
      )}
    </section>
  );
}

/** Runs when an entry becomes the chosen one, since it gets this `ref` then. */
const scrollIntoSight = (entry: HTMLElement | null) => entry?.scrollIntoView({ block: "nearest" });

function Item({ approval, isChosen, onChoose }: { approval: Approval; isChosen: boolean; onChoose: () => void }) {
  const who = useName(approval, approval.requested_by);
  const message = (approval.payload as { message?: unknown } | null)?.message;
  const isPending = approval.status === "pending";
  const isSoon = isPending && Date.parse(approval.expires_at) - Date.now() < SOON_MS;
  return (
    <button
      type="button"
      ref={isChosen ? scrollIntoSight : undefined}
      className={style.item}
      aria-current={isChosen}
      onClick={onChoose}
    >
      <SourceMark approval={approval} size={28} />
      <span className="stack grow g2">
        <span className="t-500 cut">{approval.title ?? approval.id}</span>
        {typeof message === "string" && message && <span className="t-13 t-2 cut">{message}</span>}
        <span className={`t-12 t-3 cut ${style.quiet}`}>{who}</span>
      </span>
      {isPending ? (
        <span className="fix" title={exactTime(approval.expires_at)}>
          <Pill tone={isSoon ? "warn" : undefined}>
            <Clock size={12} />
            <TimeLeft until={approval.expires_at} />
          </Pill>
        </span>
      ) : (
        <span className="stack g2 fix" style={{ alignItems: "flex-end" }}>
          <Pill tone={STATUS_TONES[approval.status]}>{statusWord(approval.status)}</Pill>
          <span className={`t-12 t-3 num ${style.quiet}`}>
            {timeSince(approval.resolved_at ?? approval.created_at)}
          </span>
        </span>
      )}
    </button>
  );
}
