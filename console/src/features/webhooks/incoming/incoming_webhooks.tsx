import Plus from "icon:plus";
import { Button, Switch } from "@mantine/core";
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
import { formatExactTime, formatTimeSince } from "../../../shared/time";
import { showToast } from "../../../shared/toast/toasts";
import type { WebhookFilters } from "../filters";
import { WebhookToolbar } from "../list_toolbar";
import { WebhookTabs } from "../webhook_tabs";
import style from "../webhooks.module.css";
import en from "../words.en.json";
import { IncomingForm } from "./incoming_form";
import {
  INCOMING_PER_PAGE,
  type IncomingWebhook,
  incomingListQuery,
  updateIncoming,
  useIncomingChange,
} from "./queries";

const say = createTranslator(en, "features/webhooks");
const SHOWS = ["off"] as const;

/** The addresses at which other systems hand in what happened there. */
export default function IncomingWebhooksPage() {
  const filters = useSearch({ from: "/frame/webhooks/incoming" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("webhooks:write");
  const list = useQuery(incomingListQuery(filters));
  const changeFilters = (change: Partial<WebhookFilters>) =>
    void navigate({ to: "/webhooks/incoming", search: { ...filters, page: undefined, ...change }, replace: true });
  const openNew = () => changeFilters({ create: true });
  const goToMade = (incomingWebhookId: string) =>
    void navigate({ to: "/webhooks/incoming/$incomingWebhookId", params: { incomingWebhookId } });
  usePageCommands(mayWrite ? [{ label: say("addIncoming"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const isEmpty = rows?.length === 0 && !filters.search && !filters.show;
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} onClick={openNew}>
      {say("addIncoming")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.total} />}>
        {addButton}
      </PageBar>
      <WebhookTabs />
      {!isEmpty && (
        <WebhookToolbar label={say("findIncoming")} shows={SHOWS} filters={filters} onChange={changeFilters} />
      )}
      <ListRows
        list={list}
        rows={rows}
        columns={[260, 160, 120]}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyIncomingTitle")} actions={addButton}>
              {say("emptyIncoming")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => void navigate({ to: "/webhooks/incoming", search: {}, replace: true })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(found) => <IncomingTable rows={found} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={INCOMING_PER_PAGE}
        total={list.data?.total ?? 0}
        onChange={(page) => changeFilters({ page })}
      />
      {filters.create && mayWrite && (
        <IncomingForm onMade={goToMade} onClose={() => changeFilters({ create: undefined })} />
      )}
    </>
  );
}

const IncomingTable = ({ rows }: { rows: IncomingWebhook[] }) => (
  <RowTable title={say("incoming")} className={style.table}>
    <thead>
      <tr>
        <th>{say("sender")}</th>
        <th>{say("lastReceived")}</th>
        <th className="wide">{say("verification")}</th>
        <th className="wide num">{say("receivedCount")}</th>
        <th className="wide">{say("on")}</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((hook) => (
        <tr key={hook.id}>
          <td>
            <Link
              data-row
              className={`stack ${style.name}`}
              to="/webhooks/incoming/$incomingWebhookId"
              params={{ incomingWebhookId: hook.id }}
            >
              <span className="t-500 cut">{hook.name}</span>
              <span className="t-12 t-3 mono cut">{hook.url}</span>
            </Link>
          </td>
          <td>
            <IncomingState hook={hook} />
          </td>
          <td className="wide t-2">{say(`verify_${hook.verification.type}`)}</td>
          <td className="wide num t-2">{hook.event_count ? hook.event_count.toLocaleString(locale) : "–"}</td>
          <td className="wide">
            <IncomingSwitch hook={hook} />
          </td>
        </tr>
      ))}
    </tbody>
  </RowTable>
);

/** Whether an address takes payloads, and when it last did. */
export function IncomingState({ hook }: { hook: IncomingWebhook }) {
  if (!hook.active) return <StatusLabel tone="idle">{say("off")}</StatusLabel>;
  if (!hook.last_received_at) return <StatusLabel tone="idle">{say("nothingReceived")}</StatusLabel>;
  return (
    <span title={formatExactTime(hook.last_received_at)}>
      <StatusLabel tone="ok">{say("receivedSince", { when: formatTimeSince(hook.last_received_at) })}</StatusLabel>
    </span>
  );
}

/** Switches an address on or off at once. */
export function IncomingSwitch({ hook }: { hook: IncomingWebhook }) {
  const mayWrite = usePermissionCheck()("webhooks:write");
  const change = useIncomingChange(updateIncoming);
  if (!mayWrite) return <span className="t-13 t-2">{say(hook.active ? "on" : "off")}</span>;
  return (
    <Switch
      size="xs"
      aria-label={say("isOn", { name: hook.name })}
      checked={change.isPending ? Boolean(change.variables.active) : hook.active}
      onChange={(event) =>
        change.mutate(
          { id: hook.id, active: event.currentTarget.checked },
          { onError: (error) => showToast(asApiError(error).message) },
        )
      }
    />
  );
}
