import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { ChannelLabel } from "../../shared/channels/channel";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { AgentMark } from "../../shared/marks/agent_mark";
import { useNamesById } from "../../shared/people/names";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { ConversationStatus } from "./conversation_status";
import style from "./conversations.module.css";
import type { Conversation } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

type Props = { rows: Conversation[]; withPeople: boolean };

export const ConversationTable = memo(function Table({ rows, withPeople }: Props) {
  const nameOf = useNamesById(withPeople ? idsOfPeople(rows) : []);
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th>{say("titleColumn")}</th>
          <th className="wide">{say("status")}</th>
          <th className="wide">{say("channel")}</th>
          {withPeople && <th className="roomy">{say("who")}</th>}
          <th className="wide num">{say("messages")}</th>
          <th className="num">{say("last")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one) => (
          <ConversationRow
            key={one.id}
            conversation={one}
            who={withPeople ? (one.user_id ? (nameOf(one.user_id) ?? "") : say("visitor")) : undefined}
          />
        ))}
      </tbody>
    </RowTable>
  );
});

/** The people of these rows; visitors of a public agent are none. */
export const idsOfPeople = (rows: readonly Conversation[]): string[] => [
  ...new Set(rows.flatMap(({ user_id: id }) => id ?? [])),
];

const ConversationRow = memo(function Row({ conversation: one, who }: { conversation: Conversation; who?: string }) {
  return (
    <tr>
      <td>
        <Link data-row className="row g12" to="/conversations/$conversationId" params={{ conversationId: one.id }}>
          <AgentMark id={one.agent_id} />
          <span className="stack">
            <span className={`t-500 cut ${style.what}`}>{one.title || say("untitled")}</span>
            <span className={`t-12 t-3 cut ${style.what}`}>{one.agent_name ?? one.agent_id}</span>
          </span>
        </Link>
      </td>
      <td className="wide">
        <ConversationStatus status={one.status} />
      </td>
      <td className="wide t-2">
        <ChannelLabel channel={one.channel} />
      </td>
      {who !== undefined && (
        <td className="roomy t-2">
          <span className={`cut ${style.who}`}>{who}</span>
        </td>
      )}
      <td className="wide num t-2">{one.message_count.toLocaleString(locale)}</td>
      <td className="num t-2" title={formatExactTime(one.last_message_at)}>
        {formatTimeSince(one.last_message_at)}
      </td>
    </tr>
  );
});
