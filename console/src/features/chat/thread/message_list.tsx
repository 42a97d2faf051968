import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { usePermissionCheck } from "../../../api/queries";
import type { Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import { RefusalNote } from "../../../shared/patterns/refusal_note";
import { FailureState } from "../../../shared/states/states";
import type { ChatAgent } from "../chat_agents";
import style from "./message.module.css";
import type { OpenSource } from "./open_source";
import { ThreadQuestion } from "./question";
import { ThreadReply } from "./reply";
import type { ReplyActions } from "./reply_actions";
import type { useThread } from "./use_thread";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Props = {
  agent: ChatAgent;
  thread: ReturnType<typeof useThread>;
  isLoading: boolean;
  isReadOnly: boolean;
  editedId: string | undefined;
  onEdit: (turn: Turn | undefined) => void;
  openSource: OpenSource | undefined;
  onSource: (turn: Turn, index: number) => void;
};

/** Questions and replies, oldest first. */
export function MessageList(props: Props) {
  const { agent, thread, isLoading, isReadOnly, editedId, onEdit, openSource, onSource } = props;
  const { session, composer, turns, failedLoad, isLive } = thread;
  const mayRate = usePermissionCheck()("conversations:write") && !isReadOnly;
  const canWrite = !isReadOnly && !isLive;
  // Another version would take the reply that is being written from the page.
  const onVersion = isLive ? undefined : thread.openVersion;
  // What is written in the field changes with each key; the replies need not follow.
  const latest = useRef(thread);
  latest.current = thread;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest is the same for as long as the page is
  const actions = useMemo<ReplyActions>(
    () => ({
      onSource,
      onVersion,
      onRate: mayRate ? session.rate : undefined,
      ...(canWrite
        ? {
            onWriteAgain: (turn) => void session.writeAgain(turn),
            onRetry: (turn) => latest.current.retry(turn),
            onDiscard: () => latest.current.discardRefused(),
          }
        : {}),
    }),
    [session, mayRate, isLive, canWrite],
  );
  const sendEdited = (turn: Turn, question: string) => {
    onEdit(undefined);
    void session.edit(turn, question);
  };
  if (failedLoad && !turns.length) return <FailureState error={failedLoad.error} onRetry={failedLoad.retry} />;
  if (isLoading) return <MessageSkeletons />;
  return (
    <>
      <EarlierMessages session={session} turns={turns} failedLoad={failedLoad} />
      {turns.map((turn, at) => (
        <div key={turn.id} className={style.turn}>
          <ThreadQuestion
            turn={turn}
            isEdited={turn.id === editedId}
            onEdit={canWrite ? onEdit : undefined}
            onSend={sendEdited}
            onVersion={onVersion}
          />
          {turn.id !== editedId && (
            <ThreadReply
              agent={agent}
              turn={turn}
              isForeign={isReadOnly}
              isLast={at === turns.length - 1}
              isPutBack={at === turns.length - 1 && composer.isReady && session.isPutBack(turn)}
              openSourceIndex={openSource?.messageId === turn.messageId ? openSource.index : undefined}
              actions={actions}
            />
          )}
        </div>
      ))}
    </>
  );
}

type EarlierProps = Pick<Props["thread"], "session" | "turns" | "failedLoad">;

/** The way to the messages before those that are shown. */
function EarlierMessages({ session, turns, failedLoad }: EarlierProps) {
  const earlier = useMutation({ mutationFn: () => session.readEarlier() });
  if (!turns[0]?.parentId && !failedLoad) return null;
  return (
    <>
      <RefusalNote error={failedLoad?.error ?? earlier.error} />
      <Button
        className={style.earlier}
        size="xs"
        variant="default"
        loading={earlier.isPending}
        onClick={() => (failedLoad ? failedLoad.retry() : earlier.mutate())}
      >
        {say("earlier")}
      </Button>
    </>
  );
}

/** Stand where the messages will stand; nothing is shown for 150 ms. */
const MessageSkeletons = () => (
  <div className={`late ${style.skeletons}`} role="status" aria-label={say("loading")}>
    {[38, 100, 84, 46].map((share, at) => (
      <span key={at} className="shim" style={{ width: `${share}%`, height: at % 3 ? 16 : 40 }} />
    ))}
  </div>
);
