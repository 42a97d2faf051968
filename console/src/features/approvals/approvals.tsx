import Check from "icon:check";
import Clock from "icon:clock";
import TriangleAlert from "icon:triangle-alert";
import { Kbd, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { type Approval, approvalsQuery, MAX_ROWS } from "../../shared/approvals/queries";
import { SHOWS, type Show } from "../../shared/approvals/shows";
import { TimeLeft } from "../../shared/approvals/time_left";
import { PageBar } from "../../shared/frame/bar";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import style from "./approvals.module.css";
import { ApprovalDetail } from "./detail";
import { describeApprovalStatus, STATUS_TONES, usePrincipalName } from "./people";
import { SourceMark } from "./source_mark";
import { isPhoneWidth, useShownApproval } from "./use_shown";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");
const SOON_MS = 3_600_000;
const EMPTY = { mine: say("empty"), all: say("emptyAll"), decided: say("emptyDecided") };

export default function ApprovalsPage() {
  const { show = "mine", id } = useSearch({ from: "/frame/approvals" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const [notice, setNotice] = useState<Notice>();
  const mine = useQuery(approvalsQuery("mine"));
  const { list, other, shown: chosen, isOpen, hasEnded, isStillShown, forget } = useShownApproval(show, id);
  const rows = list.data;
  const goToApproval = (next: { show?: Show; id?: string }) =>
    void navigate({
      to: "/approvals",
      search: {
        ...(next.show && next.show !== "mine" ? { show: next.show } : {}),
        ...(next.id ? { id: next.id } : {}),
      },
      replace: true,
    });
  const moveChoice = (step: number) => {
    const at = rows?.findIndex((one) => one.id === chosen?.id) ?? -1;
    const next = rows?.[at + step];
    if (next) goToApproval({ show, id: next.id });
  };
  useShortcutKeys({ j: () => moveChoice(1), k: () => moveChoice(-1) });
  const onDecided = (text: string) => {
    const at = rows?.findIndex((one) => one.id === chosen?.id) ?? -1;
    const next = rows?.[at + 1] ?? rows?.[at - 1];
    setNotice({ text });
    if (!isStillShown()) return;
    forget();
    // On a phone the list is the way on; beside it, the next one is chosen.
    goToApproval({ show, id: isPhoneWidth() ? undefined : next?.id });
  };
  const mayDecide = may("approvals:decide") && Boolean(mine.data?.some((one) => one.id === chosen?.id));
  return (
    <>
      <PageBar title={say("title")} after={<ApprovalCount show={show} rows={rows} />}>
        <SegmentedControl
          aria-label={say("show")}
          data={SHOWS.map((value) => ({ value, label: say(value) }))}
          value={show}
          onChange={(value) => goToApproval({ show: SHOWS.find((one) => one === value) })}
        />
      </PageBar>
      <div role="status">{notice && <NoticeLine {...notice} />}</div>
      {list.error && !rows ? (
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowSkeletons columns={[30, 300, 60]} />
      ) : rows.length === 0 && !isOpen ? (
        <EmptyState title={say(show === "decided" ? "emptyDecidedTitle" : "emptyTitle")}>{EMPTY[show]}</EmptyState>
      ) : (
        <div className={`${style.split} ${id ? style.open : ""}`}>
          <ApprovalList rows={rows} chosen={chosen?.id} onChoose={(next) => goToApproval({ show, id: next })} />
          {chosen ? (
            <ApprovalDetail
              key={chosen.id}
              approval={chosen}
              mayDecide={mayDecide}
              hasEnded={hasEnded}
              onBack={() => goToApproval({ show })}
              onDecided={onDecided}
              onGone={(text) => {
                setNotice({ text, isBad: true });
                // What was decided by someone else is no longer in the list, but is still shown.
                if (isStillShown()) goToApproval({ show, id: chosen.id });
              }}
            />
          ) : (
            other.error && <FailureState error={other.error} onRetry={() => void other.refetch()} />
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
function ApprovalCount({ show, rows }: { show: Show; rows?: Approval[] }) {
  if (!rows?.length || show === "decided") return null;
  const count = rows.length >= MAX_ROWS ? `${MAX_ROWS}+` : rows.length;
  return <span className="t-3 num t-13 fix">{say(show === "mine" ? "countMine" : "countAll", { count })}</span>;
}

function ApprovalList({
  rows,
  chosen,
  onChoose,
}: {
  rows: Approval[];
  chosen?: string;
  onChoose: (id: string) => void;
}) {
  return (
    <section className={style.list} aria-label={say("list")}>
      <ul>
        {rows.map((one) => (
          <li key={one.id}>
            <ApprovalItem approval={one} isChosen={one.id === chosen} onChoose={() => onChoose(one.id)} />
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

function ApprovalItem({
  approval,
  isChosen,
  onChoose,
}: {
  approval: Approval;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const who = usePrincipalName(approval, approval.requested_by);
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
        <span className="fix" title={formatExactTime(approval.expires_at)}>
          <StatusPill tone={isSoon ? "warn" : undefined}>
            <Clock size={12} />
            <TimeLeft until={approval.expires_at} />
          </StatusPill>
        </span>
      ) : (
        <span className="stack g2 fix" style={{ alignItems: "flex-end" }}>
          <StatusPill tone={STATUS_TONES[approval.status]}>{describeApprovalStatus(approval.status)}</StatusPill>
          <span className={`t-12 t-3 num ${style.quiet}`}>
            {formatTimeSince(approval.resolved_at ?? approval.created_at)}
          </span>
        </span>
      )}
    </button>
  );
}
