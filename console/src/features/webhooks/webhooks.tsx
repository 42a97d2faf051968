import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { ListCount } from "../../shared/list/list_count";
import { ListRows } from "../../shared/list/list_rows";
import { NothingFound } from "../../shared/list/nothing_found";
import { PageSwitcher } from "../../shared/list/pages";
import { Note } from "../../shared/patterns/note";
import { EmptyState } from "../../shared/states/empty";
import { WEBHOOK_SHOWS, type WebhookFilters } from "./filters";
import { WebhookToolbar } from "./list_toolbar";
import {
  type OutgoingWebhook,
  WEBHOOKS_PER_PAGE,
  type WebhookSecret,
  webhookListQuery,
  webhookNameOf,
} from "./queries";
import { WebhookSecretDialog } from "./shown_secret";
import { WebhookForm } from "./webhook_form";
import { formatSinceWhen } from "./webhook_state";
import { WebhookTable } from "./webhook_table";
import { WebhookTabs } from "./webhook_tabs";
import style from "./webhooks.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** The addresses that events of the organization are posted to. */
export default function WebhooksPage() {
  const filters = useSearch({ from: "/frame/webhooks" });
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("webhooks:write");
  const [secret, setSecret] = useState<WebhookSecret>();
  const list = useQuery(webhookListQuery(filters));
  const changeFilters = (change: Partial<WebhookFilters>) =>
    void navigate({ to: "/webhooks", search: { ...filters, page: undefined, ...change }, replace: true });
  const openNew = () => changeFilters({ create: true });
  const closeNew = () => changeFilters({ create: undefined });
  usePageCommands(mayWrite ? [{ label: say("add"), keys: "c", run: openNew }] : []);
  const rows = list.data?.data;
  const isEmpty = rows?.length === 0 && !filters.search && !filters.show;
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} onClick={openNew}>
      {say("add")}
    </Button>
  );
  return (
    <>
      <PageBar title={say("title")} after={<ListCount total={list.data?.total} />}>
        {addButton}
      </PageBar>
      <WebhookTabs />
      {!isEmpty && (
        <WebhookToolbar
          label={say("find")}
          shows={WEBHOOK_SHOWS}
          hint={say("columnsAreHours")}
          filters={filters}
          onChange={changeFilters}
        />
      )}
      <FailingNote rows={rows} />
      <ListRows
        list={list}
        rows={rows}
        columns={[260, 160, 180]}
        none={
          isEmpty ? (
            <EmptyState title={say("emptyTitle")} actions={addButton}>
              {say("empty")}
            </EmptyState>
          ) : (
            <NothingFound onClear={() => void navigate({ to: "/webhooks", search: {}, replace: true })}>
              {say("noMatch")}
            </NothingFound>
          )
        }
      >
        {(shown) => <WebhookTable rows={shown} />}
      </ListRows>
      <PageSwitcher
        page={filters.page ?? 1}
        perPage={WEBHOOKS_PER_PAGE}
        total={list.data?.total ?? 0}
        onChange={(page) => changeFilters({ page })}
      />
      {filters.create && mayWrite && <WebhookForm onMade={setSecret} onClose={closeNew} />}
      {secret && <WebhookSecretDialog shown={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

/** What fails now, in a sentence, with the way to it. */
function FailingNote({ rows }: { rows?: OutgoingWebhook[] }) {
  const failing = rows?.find((one) => one.active && one.failing_since);
  if (!failing?.failing_since) return null;
  const waiting = (failing.series ?? []).reduce((sum, { pending }) => sum + pending, 0);
  return (
    <div className={style.one}>
      <Note
        tone="bad"
        action={
          <Button
            size="compact-xs"
            variant="default"
            renderRoot={(props) => <Link {...props} to="/webhooks/$webhookId" params={{ webhookId: failing.id }} />}
          >
            {say("lookAtIt")}
          </Button>
        }
      >
        <b className="t-500">{webhookNameOf(failing)}</b>{" "}
        {say("hasRefused", { when: formatSinceWhen(failing.failing_since), count: waiting })}
      </Note>
    </div>
  );
}
