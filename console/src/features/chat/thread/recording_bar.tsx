import Check from "icon:check";
import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { everySecond } from "../../../shared/clock";
import { createTranslator } from "../../../shared/i18n/words";
import style from "./composer.module.css";
import type { VoiceInput } from "./voice_input";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
const MIN_HEIGHT_PX = 3;
const MAX_HEIGHT_PX = 24;

/** Minutes and seconds since a moment: "0:07". */
export const formatRecordedTime = (startedMs: number, now: number): string => {
  const seconds = Math.max(0, Math.floor((now - startedMs) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
};

type BarProps = { voice: VoiceInput; onSend: (recording: Blob) => void };

/** What stands in place of the field while somebody speaks: the time, how loud it is, discard and send. */
export function RecordingBar({ voice, onSend }: BarProps) {
  const { recorder, recording } = voice;
  const time = useSyncExternalStore(everySecond, () =>
    formatRecordedTime(recording.startedMs, recording.endedMs ?? Date.now()),
  );
  const sendRecorded = async () => {
    const sound = await recorder.finish();
    if (sound) onSend(sound);
  };
  return (
    <div className={style.recording}>
      {!recording.endedMs && <i className={style.light} aria-hidden />}
      <span className="num t-13 t-500">{time}</span>
      {!recording.endedMs && (
        <span className={style.wave} aria-hidden>
          {recording.levels.map((level, at) => (
            <i key={at} style={{ height: MIN_HEIGHT_PX + level * (MAX_HEIGHT_PX - MIN_HEIGHT_PX) }} />
          ))}
        </span>
      )}
      <span className={recording.endedMs ? "t-12 grow" : "sr"} role="status">
        {say(recording.endedMs ? "recordingFull" : "recording")}
      </span>
      <ActionIcon size={32} aria-label={say("discardRecording")} onClick={recorder.discard}>
        <X size={16} />
      </ActionIcon>
      <ActionIcon
        size={32}
        radius="xl"
        variant="filled"
        aria-label={say("sendRecording")}
        autoFocus
        onClick={() => void sendRecorded()}
      >
        <Check size={16} />
      </ActionIcon>
    </div>
  );
}
