import type { Attached } from "./attachments";
import type { AskOptions, Turn } from "./chat";
import { useChat } from "./use_chat";
import { useComposer } from "./use_composer";

type TalkOptions = {
  agentId: string;
  /** A conversation that this one continues. */
  from?: string;
  /** What answers. */
  options: AskOptions;
  beforeSend?: () => Promise<void>;
};

/** A conversation together with the field where one writes: a question that gets no answer goes back into the field. */
export function useConversation({ agentId, from, options, beforeSend }: TalkOptions) {
  // A trial of another version is not continued by the agent as it is, nor the other way round.
  const place = options.version ? agentId : `${agentId}.live`;
  const composer = useComposer(from ? `${place}.${from}` : place);
  const { session, turns, live } = useChat({
    agentId,
    place,
    from,
    refused: composer.refused,
    onKept: composer.settle,
    onUnanswered: (turn, error) => {
      composer.putBack(turn.question, turn.attachments, error.details);
      if (!turn.messageId) composer.refuse(turn.question, turn.attachments, error);
    },
    onAnswered: composer.forget,
  });
  const sendQuestion = (question: string, attachments: Attached[]) =>
    void session.send(question, { attachments, options, beforeSend });
  const sendWritten = () => {
    const { text, files } = composer.take();
    sendQuestion(text, files);
  };
  const sendExternal = (question: string, attachments: Attached[] = []) => {
    composer.ask(question, attachments);
    sendQuestion(question, attachments);
  };
  /** What was put back is sent as it stands there now; the person may have changed it. */
  const retryTurn = (turn: Turn) => (composer.isReady ? sendWritten() : sendExternal(turn.question, turn.attachments));
  const resetTalk = () => {
    session.reset();
    // A question that is discarded on its way is not put back.
    composer.settle();
  };
  return {
    composer,
    session,
    turns,
    live,
    isLive: Boolean(live?.isLive),
    sendWritten,
    sendGiven: sendExternal,
    retry: retryTurn,
    reset: resetTalk,
  };
}
