import Mic from "icon:mic";
import { ActionIcon, Tooltip } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import { VoiceRecorder } from "./recorder";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
/** A recorder of this page, and what it does now. */
export function useVoiceRecorder() {
  const [recorder] = useState(() => new VoiceRecorder());
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getSnapshot);
  return { recorder, recording };
}

export type VoiceInput = ReturnType<typeof useVoiceRecorder>;

/** Begins to record. The server has a spoken message follow the newest version, so beside an older one it rests. */
export const SpeakButton = ({ voice, isOlderBranch }: { voice: VoiceInput; isOlderBranch: boolean }) => (
  <Tooltip label={say(isOlderBranch ? "speakInNewest" : "speak")}>
    <ActionIcon
      variant="subtle"
      aria-label={say("speak")}
      loading={voice.recording.state === "asking"}
      aria-disabled={isOlderBranch || undefined}
      data-disabled={isOlderBranch || undefined}
      onClick={() => isOlderBranch || void voice.recorder.start()}
    >
      <Mic size={16} />
    </ActionIcon>
  </Tooltip>
);
