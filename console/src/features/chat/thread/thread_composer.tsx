import { lazy, Suspense, useRef } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { ChatComposer } from "../../../shared/chat/composer";
import { createTranslator } from "../../../shared/i18n/words";
import { AgentMark } from "../../../shared/marks/agent_mark";
import type { ChatAgent } from "../chat_agents";
import style from "./composer.module.css";
import type { useThread } from "./use_thread";
import { SpeakButton, useVoiceRecorder } from "./voice_input";
import en from "./words.en.json";

const RecordingBar = lazy(() => import("./recording_bar").then((found) => ({ default: found.RecordingBar })));
const say = createTranslator(en, "features/chat/thread");

type Props = {
  agent: ChatAgent;
  thread: ReturnType<typeof useThread>;
  isWaiting: boolean;
  onEditLast?: () => void;
};

/** Where one writes or speaks to the agent of a conversation. */
export function ThreadComposer({ agent, thread, isWaiting, onEditLast }: Props) {
  const { session, composer, turns, live, isLive } = thread;
  const field = useRef<HTMLTextAreaElement>(null);
  const may = usePermissionCheck();
  const voice = useVoiceRecorder();
  const { state, problem } = voice.recording;
  const placeholder = say(isWaiting ? "writeOn" : turns.length ? "replyTo" : "ask", { name: agent.name });
  return (
    <div className={style.dock}>
      {problem && (
        <p className="note warn" role="alert">
          {say(problem)}
        </p>
      )}
      <ChatComposer
        state={composer}
        field={field}
        isLarge
        isLive={isLive}
        canStop={Boolean(live?.isLive)}
        note={isLive ? say("escStops") : undefined}
        takesFiles={agent.takes.files.length > 0 && may("files:write")}
        placeholder={placeholder}
        lead={
          <span className={style.who}>
            <AgentMark id={agent.id} size={18} />
            <span className="cut">{agent.name}</span>
          </span>
        }
        actions={agent.takes.voice && !isLive && <SpeakButton voice={voice} isOlderBranch={session.isOlderBranch} />}
        recording={
          state === "recording" ? (
            <Suspense fallback={null}>
              <RecordingBar voice={voice} onSend={(recording) => void session.speak(recording)} />
            </Suspense>
          ) : undefined
        }
        onEditLast={onEditLast}
        onSend={thread.sendWritten}
        onStop={() => session.stop()}
      />
      <p className={style.small}>{say("canBeWrong")}</p>
    </div>
  );
}
