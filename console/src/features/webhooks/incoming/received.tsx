import ChevronLeft from "icon:chevron-left";
import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { ActionsMenu } from "../../../shared/actions_menu";
import { CopyableCode } from "../../../shared/code";
import { ConfirmByNameDialog } from "../../../shared/confirm_by_name";
import { PageBar } from "../../../shared/frame/bar";
import { usePageCommands } from "../../../shared/frame/commands";
import { createTranslator } from "../../../shared/i18n/words";
import { FilterSelect } from "../../../shared/list/filter_select";
import { ListRows } from "../../../shared/list/list_rows";
import { NothingFound } from "../../../shared/list/nothing_found";
import { PageSwitcher } from "../../../shared/list/pages";
import { CopyableId } from "../../../shared/marks/copyable_id";
import type { Tone } from "../../../shared/marks/status";
import { EmptyState } from "../../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import { formatDayAndTime, formatExactTime } from "../../../shared/time";
import { writeCurlCommand } from "../curl_command";
import { RECEIVED_STATUSES, type ReceivedFilters } from "../filters";
import { useFirstShown } from "../use_first_shown";
import style from "../webhooks.module.css";
import en from "../words.en.json";
import { IncomingForm } from "./incoming_form";
import { IncomingState, IncomingSwitch } from "./incoming_webhooks";
import {
  deleteIncoming,
  type IncomingWebhook,
  incomingQuery,
  RECEIVED_PER_PAGE,
  type Received,
  receivedListQuery,
  useIncomingChange,
} from "./queries";
import { ReceivedDetail } from "./received_detail";

const say = createTranslator(en, "features/webhooks");
const TONES: Record<Received["status"], Tone> = { received: "ok", triggered: "ok", failed: "bad", duplicate: "idle" };

/** One address: what came in there, as it comes, and what became of it. */
export default function ReceivedPage() {
  const { incomingWebhookId: id } = useParams({ from: "/frame/webhooks/incoming/$incomingWebhookId" });
  const { data: hook, error, refetch } = useQuery(incomingQuery(id));
  const mayWrite = usePermissionCheck()("webhooks:write");
  return (
    <>
      <PageBar
        trail={[
          { label: say("title"), to: "/webhooks" },
          { label: say("incoming"), to: "/webhooks/incoming" },
        ]}
        title={hook?.name ?? (error ? id : "…")}
        isThere={Boolean(hook)}
        after={
          hook && (
            <span className="wide">
              <IncomingState hook={hook} />
            </span>
          )
        }
      >
        {hook && mayWrite && <IncomingActions hook={hook} />}
      </PageBar>
      {error && !hook && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !hook && <RowSkeletons columns={[120, 300]} />}
      {hook && (
        <>
          <div className={`${style.top} wide`}>
            <CopyableId>{hook.url}</CopyableId>
            <span className="t-12 t-3 push">{say(`verify_${hook.verification.type}`)}</span>
          </div>
          <ReceivedFeed key={hook.id} hook={hook} />
        </>
      )}
    </>
  );
}

function IncomingActions({ hook }: { hook: IncomingWebhook }) {
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"change" | "delete">();
  const remove = useIncomingChange(deleteIncoming);
  return (
    <>
      <IncomingSwitch hook={hook} />
      <ActionsMenu label={say("more")}>
        <Menu.Item onClick={() => setDialog("change")}>{say("change")}</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog("delete")}>
          {say("delete")}
        </Menu.Item>
      </ActionsMenu>
      {dialog === "change" && <IncomingForm of={hook} onClose={() => setDialog(undefined)} />}
      {dialog === "delete" && (
        <ConfirmByNameDialog
          title={say("deleteTitle", { name: hook.name })}
          name={hook.name}
          label={say("typeName", { name: hook.name })}
          action={say("delete")}
          problem={remove.error ? asApiError(remove.error).message : undefined}
          isBusy={remove.isPending}
          onConfirm={async () => {
            await remove.mutateAsync(hook.id);
            await navigate({ to: "/webhooks/incoming", replace: true });
          }}
          onClose={() => setDialog(undefined)}
        >
          {say("deleteIncomingText")}
        </ConfirmByNameDialog>
      )}
    </>
  );
}

function ReceivedFeed({ hook }: { hook: IncomingWebhook }) {
  const filters = useSearch({ from: "/frame/webhooks/incoming/$incomingWebhookId" });
  const navigate = useNavigate();
  const list = useQuery(receivedListQuery(hook.id, filters));
  const changeFilters = (change: Partial<ReceivedFilters>) =>
    void navigate({
      to: "/webhooks/incoming/$incomingWebhookId",
      params: { incomingWebhookId: hook.id },
      search: { ...filters, page: undefined, received: undefined, ...change },
      replace: true,
    });
  const choose = (received?: string) => changeFilters({ received, page: filters.page });
  const rows = list.data?.data;
  const first = useFirstShown({
    rows,
    list: JSON.stringify([filters.status, filters.page]),
    isPlaceholder: list.isPlaceholderData,
  });
  const shown = filters.received ?? first;
  const moveChoice = (step: number) => {
    const next = rows?.[rows.findIndex(({ id }) => id === shown) + step];
    if (next) choose(next.id);
  };
  usePageCommands([
    { label: say("nextDelivery"), keys: "j", run: () => moveChoice(1) },
    { label: say("previousDelivery"), keys: "k", run: () => moveChoice(-1) },
  ]);
  if (rows?.length === 0 && !filters.status && !filters.received) return <NothingReceivedYet hook={hook} />;
  return (
    <div className={style.split} data-open={filters.received ? true : undefined}>
      <div className={style.side}>
        <div className={style.head}>
          <FilterSelect
            label={say("state")}
            any={say("anyState")}
            choices={RECEIVED_STATUSES.map((value) => ({ value, label: say(`came_${value}`) }))}
            value={filters.status}
            onChange={(value) => changeFilters({ status: RECEIVED_STATUSES.find((name) => name === value) })}
          />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <section className={style.items} aria-label={say("whatCameIn")} tabIndex={0}>
          <ListRows
            list={list}
            rows={rows}
            columns={[20, 160]}
            none={
              <NothingFound onClear={() => changeFilters({ status: undefined })}>{say("noReceivedMatch")}</NothingFound>
            }
          >
            {(found) => <ReceivedItems rows={found} chosen={shown} onChoose={choose} />}
          </ListRows>
          <PageSwitcher
            page={filters.page ?? 1}
            perPage={RECEIVED_PER_PAGE}
            total={list.data?.total ?? 0}
            onChange={(page) => changeFilters({ page })}
          />
        </section>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={style.detail} aria-label={say("payload")} tabIndex={0}>
        <button type="button" className={style.back} onClick={() => choose(undefined)}>
          <ChevronLeft size={14} /> {say("allReceived")}
        </button>
        {shown && <ReceivedDetail key={shown} hook={hook} id={shown} onReplayed={(id) => choose(id)} />}
      </section>
    </div>
  );
}

/** How the first payload gets there. */
const NothingReceivedYet = ({ hook }: { hook: IncomingWebhook }) => (
  <EmptyState title={say("nothingCameTitle")}>
    {say("nothingCame")}
    <CopyableCode
      label={say("tryIt")}
      text={writeCurlCommand({
        url: hook.url,
        headers: { "Content-Type": "application/json" },
        body: '{"hello": "world"}',
      })}
    />
  </EmptyState>
);

type ItemsProps = { rows: Received[]; chosen?: string; onChoose: (id: string) => void };

/** The beginning of a payload, to tell it from others. */
const describePayload = ({ payload, is_payload_omitted }: Received) =>
  is_payload_omitted ? say("isLarge") : JSON.stringify(payload).slice(0, 80);

const ReceivedItems = ({ rows, chosen, onChoose }: ItemsProps) => (
  <ul aria-label={say("whatCameIn")}>
    {rows.map((one) => (
      <li key={one.id}>
        <button type="button" className={style.item} aria-current={one.id === chosen} onClick={() => onChoose(one.id)}>
          <i className={`dot ${TONES[one.status]}`} />
          <span className="stack grow">
            <span className={style.spread}>
              <span className="t-13 t-500">{say(`came_${one.status}`)}</span>
              <span className={`num t-12 t-3 ${style.quiet}`} title={formatExactTime(one.created_at)}>
                {formatDayAndTime(one.created_at).time}
              </span>
            </span>
            <span className={`mono t-12 t-3 cut ${style.quiet}`}>{describePayload(one)}</span>
          </span>
        </button>
      </li>
    ))}
  </ul>
);
