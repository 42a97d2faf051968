import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { checkServer, waitUntilServerBack } from "../../../api/connection";
import { asApiError } from "../../../api/errors";
import { uploadForm } from "../../../api/upload";
import { findLiveTurn, type Turn } from "../../../shared/chat/chat";
import { readStoredChat, storeChat } from "../../../shared/chat/stored_chat";
import { keepUnsentMessage } from "../../../shared/chat/unsent";
import { createChatApi } from "../../../shared/chat/use_chat";
import { type ComposerState, useComposer } from "../../../shared/chat/use_composer";
import { createTranslator } from "../../../shared/i18n/words";
import { scheduleTimeout } from "../../../shared/schedule";
import { showToast } from "../../../shared/toast/toasts";
import { noteWritingChat } from "../writing_chats";
import { OpenThreads } from "./open_threads";
import { type AudioReply, ThreadSession, type ThreadSessionOptions } from "./thread_session";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type ThreadEvents = Pick<ThreadSessionOptions, "onKept" | "onUnanswered" | "onAnswered" | "onGivenUp"> & {
  onConversation?: (conversationId: string) => void;
  /** Whether a page shows the conversation. */
  isShown?: boolean;
};

const NOTHING_UNSENT = { text: "", files: [], cutFiles: [] };
/** Where a conversation keeps what its tab needs after a reload. */
const placeOf = (conversationId: string) => `thread.${conversationId}`;

/** A session outlives the page that shows it while a reply is written, so the page of now is told, not the first one. */
type OpenedThread = { session: ThreadSession; events: ThreadEvents };
const openThreads = new OpenThreads<OpenedThread>();

function openThread(agentId: string, conversationId: string | undefined, client: QueryClient): OpenedThread {
  const open = conversationId && openThreads.find(conversationId);
  if (open) return open;
  const events: ThreadEvents = {};
  let announced = conversationId;
  const announce = (id: string) => {
    const isNew = announced !== id;
    const isFirst = !announced;
    announced = id;
    // A page that was left is not called back by what it began.
    if (!isNew || !events.isShown) return;
    // What was kept for a conversation without an id is sent by now.
    if (isFirst) keepUnsentMessage(placeOf(agentId), NOTHING_UNSENT);
    events.onConversation?.(id);
  };
  const keepOpen = (id: string) =>
    openThreads.keep(id, opened, (isWriting) => {
      noteWritingChat(id, isWriting);
      void client.invalidateQueries({ queryKey: ["chat", "own"] });
    });
  const session: ThreadSession = new ThreadSession({
    api: createChatApi(agentId, client),
    speak: async (recording, id, signal) => {
      keepOpen(id);
      try {
        return await sendRecording(agentId, recording, id, signal);
      } catch (error) {
        if (!events.isShown && !signal.aborted)
          showToast(say(id ? "recordingWaits" : "recordingLost", { problem: asApiError(error).message }));
        throw error;
      }
    },
    connection: { suspect: checkServer, whenBack: waitUntilServerBack },
    storage: {
      read: () => (conversationId ? (readStoredChat(placeOf(conversationId)) ?? { conversationId }) : undefined),
      write: (chat) => {
        if (!chat) return;
        // Only a reply that is being written is worth keeping: the rest stands on the server.
        storeChat(placeOf(chat.conversationId), chat.messageId ? chat : undefined);
        keepOpen(chat.conversationId);
        announce(chat.conversationId);
      },
    },
    schedule: scheduleTimeout,
    onKept: () => events.onKept?.(),
    onUnanswered: (turn, error) => events.onUnanswered?.(turn, error),
    onAnswered: (question, attachments) => events.onAnswered?.(question, attachments),
    onGivenUp: (turn) => events.onGivenUp?.(turn),
  });
  const opened: OpenedThread = { session, events };
  return opened;
}

function sendRecording(agentId: string, recording: Blob, conversationId: string, signal: AbortSignal) {
  const form = new FormData();
  form.append("audio", recording, "recording");
  if (conversationId) form.append("conversation_id", conversationId);
  return uploadForm<AudioReply>(`/api/v1/agents/${agentId}/chat/audio`, form, () => undefined, signal);
}

/** A conversation with the field below it. The agent and the conversation are those of the first rendering. */
export function useThread(agentId: string, conversationId: string | undefined, onConversation: (id: string) => void) {
  const client = useQueryClient();
  const composer: ComposerState = useComposer(placeOf(conversationId ?? agentId));
  const [{ session, events }] = useState(() => openThread(agentId, conversationId, client));
  events.onConversation = onConversation;
  events.onUnanswered = (turn, error) => {
    // A question that the server has stays in the conversation; another one goes back into the field.
    if (!session.isPutBack(turn)) return composer.settle();
    composer.putBack(turn.question, turn.attachments, error.details);
    composer.refuse(turn.question, turn.attachments, error);
  };
  events.onKept = composer.settle;
  events.onAnswered = composer.forget;
  events.onGivenUp = (turn) => composer.putBack(turn.question, turn.attachments);
  useEffect(() => {
    events.isShown = true;
    return () => {
      events.isShown = false;
    };
  }, [events]);
  const { turns, failedLoad } = useSyncExternalStore(session.subscribe, session.getSnapshot);
  const live = findLiveTurn(turns);
  const sendWritten = () => {
    const { text, files } = composer.take();
    void session.ask(text, files);
  };
  /** What was put back is sent as it stands there now; the person may have changed it. */
  const retryTurn = (turn: Turn) =>
    session.isPutBack(turn) && composer.isReady ? sendWritten() : void session.retry(turn);
  return {
    session,
    composer,
    turns,
    failedLoad,
    live,
    isLive: Boolean(live?.isLive),
    sendWritten,
    retry: retryTurn,
    openVersion: (leaf: string) => void session.openVersion(leaf).catch(sayProblem),
    discardRefused: () => void session.refresh().catch(sayProblem),
  };
}

const sayProblem = (error: unknown) => showToast(asApiError(error).message);
