import { lazy, Suspense, useState } from "react";
import type { components } from "../../../api/schema";
import { isWaitingTurn, type Turn } from "../../../shared/chat/chat";
import { usePageCommands } from "../../../shared/frame/commands";
import { createTranslator } from "../../../shared/i18n/words";
import type { ChatAgent } from "../chat_agents";
import { MessageList } from "./message_list";
import { useOpenSource } from "./open_source";
import { findVersioned } from "./stored_turns";
import style from "./thread.module.css";
import { ThreadComposer } from "./thread_composer";
import { ThreadLog } from "./thread_log";
import type { useThread } from "./use_thread";
import en from "./words.en.json";

const SourcePanel = lazy(() => import("./source_panel").then((found) => ({ default: found.SourcePanel })));
/** Most conversations are one's own. */
const ReaderFoot = lazy(() => import("./reader_foot").then((found) => ({ default: found.ReaderFoot })));
const say = createTranslator(en, "features/chat/thread");

type Props = {
  agent: ChatAgent;
  thread: ReturnType<typeof useThread>;
  conversationId?: string;
  conversation?: components["schemas"]["ConversationDetail"];
  /** It is somebody else's: one only reads. */
  isForeign: boolean;
  onConversation: (conversationId: string) => void;
};

/** The head, the messages, the field, and a source beside them. */
export function ConversationPane(props: Props) {
  const { agent, thread, conversationId, conversation, isForeign, onConversation } = props;
  const { session, turns, isLive, openVersion } = thread;
  const [editedId, setEditedId] = useState<string>();
  const { source, open, close } = useOpenSource();
  const cited = source && turns.find(({ messageId }) => messageId === source.messageId);
  const last = turns.at(-1);
  const editLast = () => setEditedId(turns.findLast((turn) => turn.questionId)?.id);
  useThreadKeys({ turns, isFixed: isForeign || isLive, openVersion, session });
  const hasMessages = turns.length > 0 || Boolean(conversationId);
  return (
    <div className={style.thread} data-source={cited ? true : undefined} data-empty={hasMessages ? undefined : true}>
      <div className={style.main}>
        {hasMessages && (
          <ThreadLog turns={turns}>
            <MessageList
              agent={agent}
              thread={thread}
              isLoading={!turns.length && (conversation?.message_count ?? 1) > 0}
              isReadOnly={isForeign}
              editedId={editedId}
              onEdit={(turn) => setEditedId(turn?.id)}
              openSource={cited && source}
              onSource={(turn: Turn, index: number) => open({ messageId: turn.messageId, index })}
            />
          </ThreadLog>
        )}
        {isForeign ? (
          <Suspense fallback={null}>
            <ReaderFoot
              agent={agent}
              conversationId={conversationId ?? ""}
              ownerId={conversation?.user_id ?? null}
              onConversation={onConversation}
            />
          </Suspense>
        ) : (
          <ThreadComposer
            agent={agent}
            thread={thread}
            isWaiting={Boolean(last && isWaitingTurn(last))}
            onEditLast={isLive ? undefined : editLast}
          />
        )}
      </div>
      {cited && source && (
        <Suspense fallback={null}>
          <SourcePanel
            turn={cited}
            index={source.index}
            onOpen={(index) => open({ ...source, index })}
            onClose={close}
          />
        </Suspense>
      )}
    </div>
  );
}

type KeyProps = {
  turns: Turn[];
  isFixed: boolean;
  openVersion: (leaf: string) => void;
  session: Props["thread"]["session"];
};

/** `[` and `]` walk through versions, `R` has the last reply written again. */
function useThreadKeys({ turns, isFixed, openVersion, session }: KeyProps) {
  const versioned = findVersioned(turns);
  const walkVersions = (step: number) => () => {
    const leaf = versioned?.leafIds[versioned.at - 1 + step];
    if (leaf) openVersion(leaf);
  };
  const last = turns.at(-1);
  const canWriteAgain = last && !isWaitingTurn(last) && (last.messageId || last.questionId);
  usePageCommands(
    isFixed
      ? []
      : [
          ...(versioned
            ? [
                { label: say("versionBefore"), keys: "[", run: walkVersions(-1) },
                { label: say("versionAfter"), keys: "]", run: walkVersions(1) },
              ]
            : []),
          ...(canWriteAgain ? [{ label: say("writeAgain"), keys: "r", run: () => void session.writeAgain(last) }] : []),
        ],
  );
}
