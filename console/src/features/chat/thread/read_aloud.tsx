import Square from "icon:square";
import Volume from "icon:volume-2";
import { useSyncExternalStore } from "react";
import { asApiError } from "../../../api/errors";
import type { Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import { showToast } from "../../../shared/toast/toasts";
import { MessageAction } from "./message_action";
import { speech } from "./speech";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

/** Reads a reply aloud, and stops it. */
export function ReadAloudAction({ agentId, turn }: { agentId: string; turn: Turn }) {
  const { turnId, isLoading } = useSyncExternalStore(speech.subscribe, speech.getSnapshot);
  const isRead = turnId === turn.id;
  const readAloud = async () => {
    if (isRead) return speech.stop();
    await speech.play(agentId, turn.id, turn.text);
    const { problem } = speech.getSnapshot();
    if (problem) showToast(`${say("cannotRead")} ${asApiError(problem).message}`);
  };
  return (
    <MessageAction
      label={say(isRead ? "stopReading" : "readAloud")}
      isOn={isRead || undefined}
      isBusy={isRead && isLoading}
      onClick={() => void readAloud()}
    >
      {isRead ? <Square size={13} /> : <Volume size={16} />}
    </MessageAction>
  );
}
