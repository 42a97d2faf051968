import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import type { components } from "../../api/schema";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { PageSwitcher } from "../../shared/list/pages";
import { FactRow, Sheet, SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { KeyLimits } from "./key_limits";
import { KEYS_PER_PAGE, keyUsageQuery, planLimitsQuery, tenantSettingsQuery } from "./queries";
import style from "./usage.module.css";
import { UsagePage } from "./usage_page";
import { UsedOf } from "./used_of";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
type UsageLimits = components["schemas"]["UsageLimits"];
const LIMITS = [
  ["requests_per_minute", "minute"],
  ["requests_per_hour", "hour"],
  ["requests_per_day", "day"],
  ["chat_per_minute", undefined],
  ["workflow_executions_per_minute", undefined],
  ["concurrent_executions", undefined],
] as const;
const formatCount = (count: number | null) => (count === null ? say("unlimited") : count.toLocaleString(locale));

/** How much the plan allows, and what the keys of pages may use. */
export default function LimitsPage() {
  const { page = 1 } = useSearch({ from: "/frame/usage/limits" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const report = useQuery(planLimitsQuery);
  const keys = useQuery({ ...keyUsageQuery(page), enabled: may("embed_keys:read") });
  return (
    <UsagePage tab="limits">
      {report.error && !report.data ? (
        <FailureState error={report.error} onRetry={() => void report.refetch()} />
      ) : !report.data ? (
        <RowSkeletons rows={6} columns={[200, 300, 120]} />
      ) : (
        <Sheet>
          <PlanLimits plan={report.data.plan} limits={report.data.limits} />
          {keys.error && !keys.data && <FailureState error={keys.error} onRetry={() => void keys.refetch()} />}
          {keys.data && (
            <KeyLimits keys={keys.data.data}>
              <PageSwitcher
                page={page}
                perPage={KEYS_PER_PAGE}
                total={keys.data.pagination.total}
                onChange={(next) =>
                  void navigate({ to: "/usage/limits", search: { page: next > 1 ? next : undefined }, replace: true })
                }
              />
            </KeyLimits>
          )}
        </Sheet>
      )}
    </UsagePage>
  );
}

/** Who decides about the plan; administrators see it from the server, others read the sentence that is always true. */
function usePlanDecider(): string {
  const mayRead = usePermissionCheck()("admin:users");
  const { data } = useQuery({ ...tenantSettingsQuery, enabled: mayRead });
  const decided = data?.settings.find(({ name }) => name === "plan")?.decided_by ?? "super_admin";
  return say(`decided_${decided}`);
}

function PlanLimits({ plan, limits }: { plan: string; limits: UsageLimits }) {
  const { data: tenant } = useQuery(tenantQuery);
  const decider = usePlanDecider();
  return (
    <SheetSection title={say("planLimits")} note={say("planNote")}>
      <FactRow
        facts={[
          [say("organization"), tenant?.name ?? "…"],
          [say("plan"), plan.charAt(0).toUpperCase() + plan.slice(1)],
          [say("decidedBy"), decider],
          [say("burst"), say("burstOf", { factor: limits.burst_factor, seconds: limits.burst_seconds })],
        ]}
      />
      <div className="card scroll-x">
        <table className={`table boxed ${style.limits}`}>
          <caption className="sr">{say("planLimits")}</caption>
          <thead>
            <tr>
              <th>{say("limit")}</th>
              <th className="num">{say("allowed")}</th>
              <th className="num">{say("usedNow")}</th>
              <th className="wide">{say("meaning")}</th>
            </tr>
          </thead>
          <tbody>
            {LIMITS.map(([name, window]) => (
              <tr key={name}>
                <td className="t-500">{say(name)}</td>
                <td className="num">{formatCount(limits[name])}</td>
                <td className="num">{window ? <UsedOf used={limits.used[window]} limit={limits[name]} /> : "–"}</td>
                <td className={`wide t-2 t-12 ${style.meaning}`}>{say(`${name}_hint`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </SheetSection>
  );
}
