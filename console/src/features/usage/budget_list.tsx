import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import { BudgetLine } from "../../shared/budgets/budget_line";
import { type Budget, limitOf } from "../../shared/budgets/forecast";
import { allBudgetsQuery, spendingPaceQuery } from "../../shared/budgets/queries";
import { createTranslator } from "../../shared/i18n/words";
import { SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { useGroupNames } from "./names";
import style from "./usage.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const GLANCE = 3;

/** Those nearest to their limit first. */
export const sortByShare = (budgets: Budget[]) =>
  [...budgets].sort((a, b) => b.spent / limitOf(b) - a.spent / limitOf(a));

const idsOf = (budgets: Budget[], type: Budget["scope"]["type"]) => [
  ...new Set(budgets.flatMap(({ scope }) => (scope.type === type && scope.id ? [scope.id] : []))),
];

/** Whose spending each of these budgets limits, in words. */
export function useBudgetOwners(budgets: Budget[]): (budget: Budget) => string {
  const { data: tenant } = useQuery(tenantQuery);
  const agentName = useGroupNames("agent", idsOf(budgets, "agent"));
  const personName = useGroupNames("user", idsOf(budgets, "user"));
  const embedKeyName = useGroupNames("embed_key", idsOf(budgets, "embed_key"));
  const providerKeyName = useGroupNames("provider_key", idsOf(budgets, "provider_key"));
  return ({ scope: { type, id } }) => {
    if (type === "tenant") return tenant?.name ?? say("scope_tenant");
    const nameOf = { agent: agentName, user: personName, embed_key: embedKeyName, provider_key: providerKeyName }[type];
    return nameOf(id ?? "") ?? say(`unnamed_${type}`);
  };
}

/** The name of who is limited, with what it is. */
export function BudgetOwner({ budget, name }: { budget: Budget; name: string }) {
  return (
    <span className="row g8 wrap">
      <span className="cut">{name}</span>
      <span className="t-12 t-3 t-400">{say(`scope_${budget.scope.type}`)}</span>
    </span>
  );
}

/** The budgets that are nearest to their limit, beside the chart. */
export function BudgetsAtAGlance() {
  const mayWrite = usePermissionCheck()("usage:write");
  const list = useQuery(allBudgetsQuery);
  const shown = sortByShare(list.data ?? []).slice(0, GLANCE);
  const { data: days } = useQuery(spendingPaceQuery(shown));
  const ownerOf = useBudgetOwners(shown);
  const total = list.data?.length ?? 0;
  return (
    <SheetSection
      title={say("budgets")}
      note={shown.length > 0 && say("gaugeNote")}
      actions={
        mayWrite && (
          <Button
            size="xs"
            variant="subtle"
            leftSection={<Plus size={13} />}
            renderRoot={(props) => <Link {...props} to="/usage/budgets/new" />}
          >
            {say("budget")}
          </Button>
        )
      }
    >
      {list.error && !list.data && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
      {!list.error && !list.data && <RowSkeletons rows={2} columns={[120, 160]} />}
      {list.data && (
        <div className="card">
          {shown.length > 0 ? (
            <ul aria-label={say("budgets")}>
              {shown.map((budget) => (
                <BudgetLine
                  key={budget.id}
                  budget={budget}
                  days={days}
                  name={<BudgetOwner budget={budget} name={ownerOf(budget)} />}
                />
              ))}
            </ul>
          ) : (
            <p className={style.none}>{say("noBudgetsYet")}</p>
          )}
          {total > shown.length && (
            <Link className={style.more} to="/usage/budgets">
              {say("allBudgets", { count: total })}
            </Link>
          )}
        </div>
      )}
    </SheetSection>
  );
}
