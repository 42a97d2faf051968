import PlusIcon from "icon:plus";
import { Button, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { useNeeds } from "../../shared/states/access";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, money, timeLeft } from "../../shared/time";
import { BudgetDialog } from "./budget_dialog";
import { type Budget, budgetsQuery } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = words(en, "features/statistics");
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });

function Row({ budget, canWrite, onChange }: { budget: Budget; canWrite: boolean; onChange: () => void }) {
  const limit = budget.limit_usd ?? budget.limit_tokens ?? 0;
  const isUsd = budget.limit_usd !== null;
  const share = limit ? budget.spent / limit : 0;
  const tone = share >= 1 ? "bad" : share * 100 >= budget.soft_percent ? "warn" : "";
  const label = say(budget.period === "day" ? "spentDay" : "spentMonth", {
    spent: isUsd ? money(budget.spent) : compact.format(budget.spent),
    limit: isUsd ? money(limit) : say(limit === 1 ? "oneToken" : "tokenCount", { count: compact.format(limit) }),
  });
  const level = share > 1 ? say("overLimit") : percent.format(share);
  return (
    <li className={style.budget}>
      <div className="stack g6 grow">
        <span className="row g8 wrap">
          <span className="t-500">{label}</span>
          <Pill tone={tone || undefined}>{level}</Pill>
        </span>
        <span className={`meter ${tone}`} role="img" aria-label={level}>
          <i style={{ inlineSize: `${Math.min(100, share * 100)}%` }} />
        </span>
        <span className="t-12 t-3">
          {say(`action_${budget.action}`)}{" "}
          <span title={exactTime(budget.resets_at)}>{say("resets", { left: timeLeft(budget.resets_at) })}</span>
        </span>
      </div>
      {canWrite && (
        <Button size="xs" variant="default" aria-label={say("changeBudget", { budget: label })} onClick={onChange}>
          {say("change")}
        </Button>
      )}
    </li>
  );
}

/** What this agent may spend; budgets of the organization hold as well and are not shown here. */
export function Budgets({ agentId }: { agentId: string }) {
  const may = useMay();
  const needsRead = useNeeds("usage:read");
  const needsWrite = useNeeds("usage:write");
  const canRead = may("usage:read");
  const canWrite = may("usage:write");
  const list = useQuery({ ...budgetsQuery(agentId), enabled: canRead });
  const [open, setOpen] = useState<Budget | "new">();
  const rows = list.data?.data ?? [];
  return (
    <section className="stack g8" aria-labelledby="budgets">
      <div className="row between">
        <h2 id="budgets" className="t-sec">
          {say("budgets")}
        </h2>
        {canRead && (
          <Tooltip label={needsWrite} disabled={canWrite}>
            <Button
              size="xs"
              variant="default"
              leftSection={<PlusIcon size={13} />}
              aria-disabled={!canWrite || undefined}
              data-disabled={!canWrite || undefined}
              onClick={() => canWrite && setOpen("new")}
            >
              {say("addBudget")}
            </Button>
          </Tooltip>
        )}
      </div>
      {!canRead ? (
        <p className={`card ${style.none}`}>{needsRead}</p>
      ) : list.error && !list.data ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !list.data ? (
        <RowsLoading rows={1} columns={[300, 60]} />
      ) : rows.length ? (
        <ul className="card">
          {rows.map((budget) => (
            <Row key={budget.id} budget={budget} canWrite={canWrite} onChange={() => setOpen(budget)} />
          ))}
        </ul>
      ) : (
        <p className={`card ${style.none}`}>{say("noBudgets")}</p>
      )}
      {open && (
        <BudgetDialog agentId={agentId} budget={open === "new" ? undefined : open} onClose={() => setOpen(undefined)} />
      )}
    </section>
  );
}
