import { useCallback, useEffect, useState } from "react";
import { apiUrlOf } from "../../api/client";
import { asApiError } from "../../api/errors";
import { openReplyStream } from "../../shared/chat/chat";
import { language } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import type { Settings } from "./queries";
import style from "./share.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
type Told = { source?: string; kind?: string; turn?: number; message?: string };
type Props = { agent: { id: string; name: string }; settings: Settings; isPhone: boolean; isPage: boolean };

const postToFrame = (frame: HTMLIFrameElement, message: object) =>
  frame.contentWindow?.postMessage(message, location.origin);

/** The real widget or hosted page in a frame. It talks to the agent through this page, so that no key and no token goes there. */
export function WidgetPreview({ agent, settings, isPhone, isPage }: Props) {
  const [ready, setReady] = useState<HTMLIFrameElement>();
  const agentId = agent.id;
  const connect = useCallback(
    (frame: HTMLIFrameElement) => {
      const turns = new Map<number, AbortController>();
      let conversation = "";
      const postToPreview = (message: object) => postToFrame(frame, message);
      const answerQuestion = async (turn: number, message: string) => {
        const control = new AbortController();
        turns.set(turn, control);
        try {
          for await (const { event, data } of openReplyStream(agentId, message, conversation, control.signal)) {
            const body = data as Record<string, unknown>;
            if (event === "message_start") conversation = String(body.conversation_id ?? conversation);
            if (event === "content_delta") postToPreview({ kind: "piece", turn, text: String(body.delta) });
            if (event === "message_stop") postToPreview({ kind: "end", turn, end: body });
            if (event === "error") postToPreview({ kind: "failure", turn, message: String(body.message) });
          }
        } catch (error) {
          if (!control.signal.aborted) postToPreview({ kind: "failure", turn, message: asApiError(error).message });
        }
      };
      const handleFrameMessage = ({ origin, source, data }: MessageEvent<Told>) => {
        if (origin !== location.origin || source !== frame.contentWindow) return;
        if (data.kind === "ready") setReady(frame);
        if (data.kind === "anew") conversation = "";
        if (data.kind === "stop" && data.turn) turns.get(data.turn)?.abort();
        if (data.kind === "ask" && data.turn) void answerQuestion(data.turn, data.message ?? "");
      };
      addEventListener("message", handleFrameMessage);
      return () => {
        removeEventListener("message", handleFrameMessage);
        for (const control of turns.values()) control.abort();
      };
    },
    [agentId],
  );
  useEffect(() => {
    if (!ready) return;
    postToFrame(ready, { kind: "design", design: { agent, settings } });
    postToFrame(ready, { kind: "open" });
  }, [ready, agent, settings]);
  return (
    <div className={style.stage} data-scheme={settings.scheme} data-phone={isPhone || undefined}>
      <iframe
        ref={connect}
        className={style.frame}
        title={say("preview")}
        src={apiUrlOf(
          `/embed/${isPage ? "page-preview?of=page&" : "preview?"}agent=${encodeURIComponent(agent.id)}&lang=${language}`,
        )}
      />
    </div>
  );
}
