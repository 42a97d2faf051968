import Building2 from "icon:building-2";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { guidePathOf } from "../../api/base";
import { meQuery, tenantQuery } from "../../api/queries";
import { actInTenant } from "../../api/tenant";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay, formatDecimal } from "../../shared/time";
import { OrganizationForm } from "./organization_form";
import { planNameOf } from "./plan_names";
import { organizationQuery, type Tenant } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

/** One organization: its name and plan, what that allows it, and the way into it. */
export function OrganizationPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const found = useQuery(organizationQuery(id));
  const { data: me } = useQuery(meQuery);
  const { data: current } = useQuery(tenantQuery);
  const organization = found.data;
  return (
    <SidePanel
      label={organization?.name ?? say("organization")}
      icon={<Building2 size={16} />}
      title={organization?.name ?? "…"}
      subtitle={organization && planNameOf(organization.plan)}
      foot={
        organization &&
        me &&
        current &&
        (current.id === id ? (
          <span className="t-12 t-3">{say("actingHere")}</span>
        ) : (
          <Button size="xs" variant="default" onClick={() => actInTenant(id === me.tenant_id ? undefined : id)}>
            {say("actThere")}
          </Button>
        ))
      }
      onClose={onClose}
    >
      {found.error ? (
        <FailureState error={found.error} onRetry={() => void found.refetch()} />
      ) : !organization ? (
        <RowSkeletons rows={3} columns={[80, 160]} />
      ) : (
        <>
          <OrganizationForm key={`${organization.name} ${organization.plan}`} organization={organization} />
          <LimitFacts organization={organization} />
          <CopyableId>{organization.id}</CopyableId>
        </>
      )}
    </SidePanel>
  );
}

const LIMITS = [
  "requests_per_minute",
  "requests_per_hour",
  "requests_per_day",
  "chat_per_minute",
  "workflow_executions_per_minute",
  "concurrent_executions",
] as const;

const LimitFacts = ({ organization: { limits, trace_sample, created_at } }: { organization: Tenant }) => (
  <section className="stack g8" aria-label={say("limits")}>
    <h3 className="t-sec">{say("limits")}</h3>
    <FactList
      facts={[
        ...LIMITS.map((name): [string, string] => [
          say(`limit_${name}`),
          limits[name] === null ? say("unlimited") : formatDecimal(limits[name], 0),
        ]),
        [
          say("traceShare"),
          trace_sample === null ? say("traceFromServer") : `${formatDecimal(trace_sample * 100, 0, 1)} %`,
        ],
        [say("since"), formatDay(created_at)],
      ]}
    />
    <p className="t-12 t-3">
      {say("limitsHint")}{" "}
      <a className="inline-link" href={guidePathOf("operating.md#rate-limits")} target="_blank" rel="noreferrer">
        {say("limitsGuide")}
      </a>
    </p>
  </section>
);
