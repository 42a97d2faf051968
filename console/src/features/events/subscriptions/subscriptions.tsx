import Plus from "icon:plus";
import { Button, SegmentedControl, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { PageBar } from "../../../shared/frame/bar";
import { usePageCommands } from "../../../shared/frame/commands";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { ListCount } from "../../../shared/list/list_count";
import { ListRows } from "../../../shared/list/list_rows";
import { NothingFound } from "../../../shared/list/nothing_found";
import { PageSwitcher } from "../../../shared/list/pages";
import { RowTable } from "../../../shared/list/row_table";
import { StatusLabel } from "../../../shared/marks/status";
import { EmptyState } from "../../../shared/states/empty";
import { formatTimeSince } from "../../../shared/time";
import { showToast } from "../../../shared/toast/toasts";
import { EventTabs } from "../event_tabs";
import type { SubscriptionFilters } from "../filters";
import {
  SUBSCRIPTIONS_PER_PAGE,
  type Subscription,
  subscriptionListQuery,
  updateSubscription,
  useSubscriptionChange,
} from "../queries";
import en from "../words.en.json";
import { subscriptionTone } from "./subscription_tone";

const say = createTranslator(en, "features/events");

/** What is done by itself when something happens. */
export default function SubscriptionsPage() {
  const filters = useSearch({ from: "/frame/events/subscriptions" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("events:write");
  const list = useQuery(subscriptionListQuery(filters));
  const changeFilters = (search: SubscriptionFilters) =>
    void navigate({ to: "/events/subscriptions", search, replace: true });
  const openNew = () =>
    void navigate({ to: "/events/subscriptions/$subscriptionId", params: { subscriptionId: "new" } });
  usePageCommands(mayWrite ? [{ label: say("addSubscription"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} onClick={openNew}>
      {say("addSubscription")}
    </Button>
  );
  const isEmpty = rows?.length === 0 && !filters.show;
  return (
    <>
      <PageBar title={say("subscriptions")} after={<ListCount total={list.data?.total} />}>
        {addButton}
      </PageBar>
      <EventTabs />
      {!isEmpty && (
        <div className="toolbar">
          <SegmentedControl
            aria-label={say("show")}
            data={[
              { value: "", label: say("show_all") },
              { value: "off", label: say("show_off") },
            ]}
            value={filters.show ?? ""}
            onChange={(value) => changeFilters(value === "off" ? { show: "off" } : {})}
          />
        </div>
      )}
      <ListRows
        list={list}
        rows={rows}
        columns={[240, 200, 120]}
        none={
          isEmpty ? (
            <EmptyState title={say("noSubscriptionsTitle")} actions={addButton}>
              {say("noSubscriptions")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => changeFilters({})}>{say("noSubscriptionMatch")}</NothingFound>
          )
        }
      >
        {(found) => <SubscriptionTable rows={found} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={SUBSCRIPTIONS_PER_PAGE}
        total={list.data?.total ?? 0}
        onChange={(page) => changeFilters({ ...filters, page })}
      />
    </>
  );
}

const SubscriptionTable = ({ rows }: { rows: Subscription[] }) => (
  <RowTable title={say("subscriptions")}>
    <thead>
      <tr>
        <th>{say("whenThis")}</th>
        <th>{say("state")}</th>
        <th className="wide">{say("doThat")}</th>
        <th className="wide num">{say("times")}</th>
        <th className="wide">{say("on")}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((one) => (
        <tr key={one.id}>
          <td>
            <Link
              data-row
              className="stack"
              to="/events/subscriptions/$subscriptionId"
              params={{ subscriptionId: one.id }}
            >
              <span className="t-500 cut">{nameOfSubscription(one)}</span>
              <span className="t-12 t-3 cut">{say("withConditions", { count: Object.keys(one.filters).length })}</span>
            </Link>
          </td>
          <td>
            <StatusLabel tone={subscriptionTone(one)}>{describeSubscription(one)}</StatusLabel>
          </td>
          <td className="wide t-2">{say(`action_${one.action_type}`)}</td>
          <td className="wide num t-2">{one.trigger_count.toLocaleString(locale)}</td>
          <td className="wide">
            <SubscriptionSwitch subscription={one} />
          </td>
        </tr>
      ))}
    </tbody>
  </RowTable>
);

/** Events have no other name than their type. */
const nameOfSubscription = ({ event_type: name }: Subscription) => name;

/** How a subscription stands, in words. */
function describeSubscription({ active, last_error, last_triggered_at }: Subscription): string {
  if (!active) return say("off");
  if (last_error) return say("fails");
  return last_triggered_at ? say("lastActed", { when: formatTimeSince(last_triggered_at) }) : say("neverActed");
}

function SubscriptionSwitch({ subscription }: { subscription: Subscription }) {
  const mayWrite = usePermissionCheck()("events:write");
  const change = useSubscriptionChange(updateSubscription);
  if (!mayWrite) return <span className="t-13 t-2">{say(subscription.active ? "on" : "off")}</span>;
  return (
    <Switch
      size="xs"
      aria-label={say("isOn", { name: subscription.event_type })}
      checked={change.isPending ? Boolean(change.variables.active) : subscription.active}
      onChange={(event) =>
        change.mutate(
          { id: subscription.id, active: event.currentTarget.checked },
          { onError: (error) => showToast(asApiError(error).message) },
        )
      }
    />
  );
}
