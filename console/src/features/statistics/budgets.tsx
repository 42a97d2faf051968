import PlusIcon from "icon:plus";
import { Button, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { BudgetDialog } from "../../shared/budgets/budget_dialog";
import { BudgetLine } from "../../shared/budgets/budget_line";
import { describeSpent } from "../../shared/budgets/budget_words";
import type { Budget } from "../../shared/budgets/forecast";
import { agentBudgetsOf, spendingPaceQuery } from "../../shared/budgets/queries";
import { createTranslator } from "../../shared/i18n/words";
import { useMissingAccessHint } from "../../shared/states/access";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");

/** What this agent may spend; budgets of the organization hold as well and are not shown here. */
export function BudgetList({ agentId }: { agentId: string }) {
  const may = usePermissionCheck();
  const needsRead = useMissingAccessHint("usage:read");
  const needsWrite = useMissingAccessHint("usage:write");
  const canRead = may("usage:read");
  const canWrite = may("usage:write");
  const list = useQuery({ ...agentBudgetsOf(agentId), enabled: canRead });
  const [open, setOpen] = useState<Budget | "new">();
  const rows = list.data ?? [];
  const { data: days } = useQuery(spendingPaceQuery(rows));
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
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !list.data ? (
        <RowSkeletons rows={1} columns={[300, 60]} />
      ) : rows.length ? (
        <ul className="card">
          {rows.map((budget) => (
            <BudgetLine key={budget.id} budget={budget} days={days}>
              {canWrite && (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={say("changeBudget", { budget: describeSpent(budget) })}
                  onClick={() => setOpen(budget)}
                >
                  {say("change")}
                </Button>
              )}
            </BudgetLine>
          ))}
        </ul>
      ) : (
        <p className={`card ${style.none}`}>{say("noBudgets")}</p>
      )}
      {open && (
        <BudgetDialog
          scope={{ type: "agent", id: agentId }}
          budget={open === "new" ? undefined : open}
          onClose={() => setOpen(undefined)}
        />
      )}
    </section>
  );
}
