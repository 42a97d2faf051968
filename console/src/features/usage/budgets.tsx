import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { BudgetDialog } from "../../shared/budgets/budget_dialog";
import { BudgetLine } from "../../shared/budgets/budget_line";
import { describeSpent } from "../../shared/budgets/budget_words";
import type { Budget } from "../../shared/budgets/forecast";
import { allBudgetsQuery, spendingPaceQuery } from "../../shared/budgets/queries";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { BudgetOwner, sortByShare, useBudgetOwners } from "./budget_list";
import { UsagePage } from "./usage_page";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

/** What may be spent: by the organization, an agent, a person or a key. */
export default function BudgetsPage() {
  const mayWrite = usePermissionCheck()("usage:write");
  const navigate = useNavigate();
  const list = useQuery(allBudgetsQuery);
  useShortcutKeys(mayWrite ? { c: () => void navigate({ to: "/usage/budgets/new" }) } : {});
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} renderRoot={(props) => <Link {...props} to="/usage/budgets/new" />}>
      {say("addBudget")}
    </Button>
  );
  return (
    <UsagePage tab="budgets" count={list.data?.length} actions={addButton}>
      {list.error && !list.data ? (
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !list.data ? (
        <RowSkeletons rows={4} columns={[160, 300, 120]} />
      ) : list.data.length === 0 ? (
        <EmptyState title={say("noBudgetsTitle")} actions={addButton}>
          {say("noBudgets")}
        </EmptyState>
      ) : (
        <Sheet width={860}>
          <Budgets budgets={list.data} mayWrite={mayWrite} />
        </Sheet>
      )}
    </UsagePage>
  );
}

function Budgets({ budgets, mayWrite }: { budgets: Budget[]; mayWrite: boolean }) {
  const [opened, setOpened] = useState<Budget>();
  const { data: days } = useQuery(spendingPaceQuery(budgets));
  const ownerOf = useBudgetOwners(budgets);
  return (
    <div className="stack g8">
      <p className="t-12 t-3">{say("forecastNote")}</p>
      <ul className="card" aria-label={say("budgets")}>
        {sortByShare(budgets).map((budget) => {
          const name = ownerOf(budget);
          return (
            <BudgetLine key={budget.id} budget={budget} days={days} name={<BudgetOwner budget={budget} name={name} />}>
              {mayWrite && (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={say("changeBudget", { name, spent: describeSpent(budget) })}
                  onClick={() => setOpened(budget)}
                >
                  {say("change")}
                </Button>
              )}
            </BudgetLine>
          );
        })}
      </ul>
      {opened && <BudgetDialog scope={opened.scope} budget={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}
