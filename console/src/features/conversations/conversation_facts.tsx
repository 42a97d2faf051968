import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { agentQuery } from "../../shared/agent/queries";
import { ChannelLabel } from "../../shared/channels/channel";
import { useConversationChange } from "../../shared/conversations/changes";
import type { ConversationDetail } from "../../shared/conversations/conversation_query";
import { conversationShareQuery, endConversationShare } from "../../shared/conversations/share";
import { createTranslator } from "../../shared/i18n/words";
import { useKnownName } from "../../shared/people/names";
import type { Message } from "../../shared/trace/queries";
import { useMayChange } from "./conversation_actions";
import { ConversationStatus } from "./conversation_status";
import style from "./conversations.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

type Props = { conversation: ConversationDetail; messages: readonly Message[] };

/** Who talked with which agent, on which way, and who else may read it. */
export function ConversationFacts({ conversation, messages }: Props) {
  const may = usePermissionCheck();
  const { user_id: userId, agent_id: agentId } = conversation;
  const mayRead = may("agents:read");
  const { data: agent } = useQuery({ ...agentQuery(agentId), enabled: mayRead });
  const person = useKnownName(userId ?? "");
  const versions = versionsOf(messages);
  return (
    <dl className={style.facts}>
      <Fact name={say("who")}>
        <span title={userId ?? undefined}>{userId ? (person ?? say("colleague")) : say("visitor")}</span>
      </Fact>
      <Fact name={say("channel")}>
        <ChannelLabel channel={conversation.channel} />
      </Fact>
      <Fact name={say("agent")}>
        {mayRead ? (
          <Link className="inline-link" to="/agents/$agentId" params={{ agentId }}>
            {agent?.name ?? agentId}
          </Link>
        ) : (
          agentId
        )}
      </Fact>
      {versions.length > 0 && (
        <Fact name={say("version")}>
          {versions.map((version) =>
            mayRead ? (
              <Link
                key={version}
                className={`inline-link num ${style.version}`}
                to="/agents/$agentId/versions"
                params={{ agentId }}
                search={{ version }}
              >
                {version}
              </Link>
            ) : (
              <span key={version} className={`num ${style.version}`}>
                {version}
              </span>
            ),
          )}
        </Fact>
      )}
      <Fact name={say("state")}>
        <ConversationStatus status={conversation.status} />
      </Fact>
      {conversation.shared && <ShareFact conversation={conversation} />}
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** The versions of the agent that replied, in their order. */
const versionsOf = (messages: readonly Message[]): number[] =>
  [...new Set(messages.flatMap((message) => message.details?.agent_version ?? []))].sort((a, b) => a - b);

function ShareFact({ conversation }: Pick<Props, "conversation">) {
  const mayChange = useMayChange(conversation);
  const { data: share } = useQuery({ ...conversationShareQuery(conversation.id), enabled: mayChange });
  const end = useConversationChange(endConversationShare);
  return (
    <Fact name={say("shared")}>
      <span className="row g8 wrap">
        {!share
          ? say("sharedAtAll")
          : share.audience === "organization"
            ? say("sharedWithAll")
            : say("sharedWith", { count: share.user_ids.length })}
        {mayChange && (
          <Button
            size="compact-xs"
            variant="default"
            loading={end.isPending}
            onClick={() => end.mutate(conversation.id)}
          >
            {say("endShare")}
          </Button>
        )}
      </span>
    </Fact>
  );
}
