import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { StatusPill } from "../../shared/marks/status";
import { formatDecimal } from "../../shared/time";
import { HourBars } from "./hour_bars";
import { type OutgoingWebhook, webhookNameOf } from "./queries";
import { WebhookState } from "./webhook_state";
import { WebhookSwitch } from "./webhook_switch";
import style from "./webhooks.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** The first event of a webhook, and how many more there are. */
export const summarizeEvents = ([first = "", ...more]: string[]) =>
  more.length ? say("eventsMore", { name: first, count: more.length }) : first;

export const WebhookTable = memo(function WebhookTable({ rows }: { rows: OutgoingWebhook[] }) {
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th>{say("receiver")}</th>
          <th>{say("state")}</th>
          <th className="wide">{say("lastDay")}</th>
          <th className="wide num">{say("arrived")}</th>
          <th className="wide">{say("on")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} />
        ))}
      </tbody>
    </RowTable>
  );
});

/** While everything still waits, nothing has arrived and nothing is lost. */
const hasEnded = ({ success_rate, series = [] }: OutgoingWebhook) =>
  success_rate > 0 || series.some(({ failed }) => failed > 0);

const WebhookRow = memo(function WebhookRow({ webhook }: { webhook: OutgoingWebhook }) {
  const name = webhookNameOf(webhook);
  return (
    <tr>
      <td>
        <Link data-row className={`stack ${style.name}`} to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
          <span className="row g6">
            <span className="t-500 cut">{name}</span>
            <span className="wide">
              <StatusPill>{summarizeEvents(webhook.events)}</StatusPill>
            </span>
          </span>
          <span className="t-12 t-3 mono cut">{webhook.url}</span>
        </Link>
      </td>
      <td>
        <WebhookState webhook={webhook} />
      </td>
      <td className="wide">
        <HourBars name={name} series={webhook.series ?? []} isFailing={Boolean(webhook.failing_since)} />
      </td>
      <td className="wide num t-2">
        {hasEnded(webhook) ? `${formatDecimal(webhook.success_rate, 0, 1)}\u00a0%` : "–"}
      </td>
      <td className="wide">
        <WebhookSwitch webhook={webhook} />
      </td>
    </tr>
  );
});
