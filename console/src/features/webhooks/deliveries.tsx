import ChevronLeft from "icon:chevron-left";
import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { SearchField } from "../../shared/list/search_field";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FactRow } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDecimal, formatDuration } from "../../shared/time";
import { DeliveryDetail } from "./delivery_detail";
import { DeliveryItems } from "./delivery_list";
import { DELIVERY_STATUSES, type DeliveryFilters } from "./filters";
import { HourBars } from "./hour_bars";
import {
  DELIVERIES_PER_PAGE,
  deliveriesQuery,
  deliveryCountQuery,
  type OutgoingWebhook,
  webhookNameOf,
  webhookQuery,
  webhookStatsQuery,
} from "./queries";
import { useFirstShown } from "./use_first_shown";
import { WebhookBar } from "./webhook_bar";
import style from "./webhooks.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** One receiver: what was sent to it, why it did not arrive, and how to send it again. */
export default function DeliveriesPage() {
  const { webhookId } = useParams({ from: "/frame/webhooks/$webhookId" });
  const { data: webhook, error, refetch } = useQuery(webhookQuery(webhookId));
  return (
    <>
      <WebhookBar id={webhookId} webhook={webhook} hasFailed={Boolean(error)} />
      {error && !webhook && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !webhook && <RowSkeletons columns={[120, 300]} />}
      {webhook && (
        <>
          <ReceiverStrip webhook={webhook} />
          <DeliveryInspector key={webhook.id} webhook={webhook} />
        </>
      )}
    </>
  );
}

function ReceiverStrip({ webhook }: { webhook: OutgoingWebhook }) {
  const { data: stats } = useQuery(webhookStatsQuery(webhook.id));
  const conditions = Object.keys(webhook.filters).length;
  return (
    <div className={`${style.top} wide`}>
      <div className="stack g2 grow">
        <CopyableId>{webhook.url}</CopyableId>
        <span className="t-12 t-3 cut">
          {webhook.events.join(", ")}
          {conditions > 0 && ` · ${say("withConditions", { count: conditions })}`} · {webhook.secret_prefix}…
        </span>
      </div>
      {stats && (
        <>
          <div className="stack g2">
            <HourBars
              name={webhookNameOf(webhook)}
              series={stats.series ?? []}
              isFailing={Boolean(webhook.failing_since)}
              height={28}
            />
            <span className={`${style.spread} t-12 t-3`}>
              <span>{say("dayAgo")}</span>
              <span>{say("justNow")}</span>
            </span>
          </div>
          <FactRow
            facts={[
              [
                say("arrived"),
                stats.delivered + stats.failed ? `${formatDecimal(stats.success_rate, 0, 1)}\u00a0%` : "–",
              ],
              ["p95", stats.p95_response_time_ms ? formatDuration(stats.p95_response_time_ms) : "–"],
            ]}
          />
        </>
      )}
    </div>
  );
}

function DeliveryInspector({ webhook }: { webhook: OutgoingWebhook }) {
  const filters = useSearch({ from: "/frame/webhooks/$webhookId" });
  const navigate = useNavigate();
  const [secret, setSecret] = useState("");
  const list = useQuery(deliveriesQuery(webhook.id, filters));
  const changeFilters = (change: Partial<DeliveryFilters>) =>
    void navigate({
      to: "/webhooks/$webhookId",
      params: { webhookId: webhook.id },
      search: { ...filters, page: undefined, delivery: undefined, ...change },
      replace: true,
    });
  const choose = (id?: string) => changeFilters({ delivery: id, page: filters.page });
  const rows = list.data?.data;
  const { search, status, page } = filters;
  const first = useFirstShown({
    rows,
    list: JSON.stringify([search, status, page]),
    isPlaceholder: list.isPlaceholderData,
  });
  const shown = filters.delivery ?? first;
  const moveChoice = (step: number) => {
    const next = rows?.[(rows.findIndex(({ id }) => id === shown) ?? -1) + step];
    if (next) choose(next.id);
  };
  usePageCommands([
    { label: say("nextDelivery"), keys: "j", run: () => moveChoice(1) },
    { label: say("previousDelivery"), keys: "k", run: () => moveChoice(-1) },
  ]);
  const isNarrowed = Boolean(filters.search || filters.status);
  if (rows?.length === 0 && !isNarrowed && !filters.delivery)
    return <EmptyState title={say("noDeliveriesTitle")}>{say("noDeliveries")}</EmptyState>;
  return (
    <div className={style.split} data-open={filters.delivery ? true : undefined}>
      <div className={style.side}>
        <DeliveryFinder webhook={webhook} filters={filters} onChange={changeFilters} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <section className={style.items} aria-label={say("deliveries")} tabIndex={0}>
          <ListRows
            list={list}
            rows={rows}
            columns={[20, 160]}
            none={
              <NothingFound onClear={() => changeFilters({ search: undefined, status: undefined })}>
                {say("noDeliveryMatch")}
              </NothingFound>
            }
          >
            {(found) => <DeliveryItems rows={found} chosen={shown} onChoose={choose} />}
          </ListRows>
          <PageSwitcher
            page={filters.page ?? 1}
            perPage={DELIVERIES_PER_PAGE}
            total={list.data?.total ?? 0}
            onChange={(page) => changeFilters({ page })}
          />
        </section>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={style.detail} aria-label={say("delivery")} tabIndex={0}>
        <button type="button" className={style.back} onClick={() => choose(undefined)}>
          <ChevronLeft size={14} /> {say("allDeliveries")}
        </button>
        {shown && (
          <DeliveryDetail
            key={shown}
            webhook={webhook}
            id={shown}
            rows={rows ?? []}
            secret={secret}
            onSecret={setSecret}
          />
        )}
      </section>
    </div>
  );
}

type FinderProps = {
  webhook: OutgoingWebhook;
  filters: DeliveryFilters;
  onChange: (change: Partial<DeliveryFilters>) => void;
};

/** Finds deliveries by text and state; the numbers say how many there are. */
function DeliveryFinder({ webhook, filters, onChange }: FinderProps) {
  const pending = useQuery(deliveryCountQuery(webhook.id, "pending"));
  const failed = useQuery(deliveryCountQuery(webhook.id, "failed"));
  const counts = { pending: pending.data, failed: failed.data, delivered: undefined };
  return (
    <div className={style.head}>
      <SearchField label={say("findDelivery")} value={filters.search} onChange={(search) => onChange({ search })} />
      <SegmentedControl
        fullWidth
        aria-label={say("state")}
        data={[
          { value: "", label: say("show_all") },
          ...DELIVERY_STATUSES.map((value) => ({
            value,
            label: [say(`status_${value}`), counts[value] || ""].join(" ").trim(),
          })),
        ]}
        value={filters.status ?? ""}
        onChange={(value) => onChange({ status: DELIVERY_STATUSES.find((name) => name === value) })}
      />
    </div>
  );
}
