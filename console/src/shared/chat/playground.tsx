import ArrowUp from "icon:arrow-up";
import RotateCcw from "icon:rotate-ccw";
import Square from "icon:square";
import { ActionIcon, Textarea, Tooltip } from "@mantine/core";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import { asApiError } from "../../api/errors";
import { words } from "../i18n/words";
import { ask, newTurn, type Turn, withEvent } from "./chat";
import style from "./chat.module.css";
import { Reply } from "./reply";
import en from "./words.en.json";

const say = words(en);

function useChat(agentId: string) {
  const [turns, setTurns] = useState<Turn[]>([]);
  const conversation = useRef("");
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const change = (id: string, next: (turn: Turn) => Turn) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? next(turn) : turn)));

  const send = async (question: string) => {
    const turn = newTurn(question);
    setTurns((all) => [...all, turn]);
    const control = new AbortController();
    running.current = control;
    try {
      for await (const event of ask(agentId, question, conversation.current, control.signal)) {
        if (event.event === "message_start")
          conversation.current = String((event.data as { conversation_id: string }).conversation_id);
        change(turn.id, (now) => withEvent(now, event));
      }
    } catch (error) {
      const { code, message } = asApiError(error);
      if (!control.signal.aborted) change(turn.id, (now) => ({ ...now, error: { code, message } }));
    } finally {
      change(turn.id, (now) => ({ ...now, isLive: false }));
    }
  };
  const live = turns.find((turn) => turn.isLive);
  const stop = () => {
    if (live?.messageId)
      void api
        .POST("/api/v1/agents/{agent_id}/chat/{message_id}/stop", {
          params: { path: { agent_id: agentId, message_id: live.messageId } },
        })
        .catch(() => undefined);
    else running.current?.abort();
  };
  const reset = () => {
    running.current?.abort();
    conversation.current = "";
    setTurns([]);
  };
  return { turns, isLive: Boolean(live), send, stop, reset };
}

export function Playground({ agentId }: { agentId: string }) {
  const chat = useChat(agentId);
  const [text, setText] = useState("");
  const log = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the turns moves the log
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [chat.turns]);
  const send = () => {
    if (!text.trim() || chat.isLive) return;
    void chat.send(text.trim());
    setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape" && chat.isLive) chat.stop();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <>
      <div className={style.head}>
        <h2 className="t-sec grow">{say("playground")}</h2>
        <Tooltip label={say("again")}>
          <ActionIcon aria-label={say("again")} onClick={chat.reset} disabled={!chat.turns.length}>
            <RotateCcw size={15} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div
        className={style.log}
        ref={log}
        role="log"
        aria-live="polite"
        aria-busy={chat.isLive}
        aria-label={say("log")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        {chat.turns.length === 0 && <p className="t-3">{say("empty")}</p>}
        {chat.turns.map((turn) => (
          <Reply key={turn.id} turn={turn} />
        ))}
      </div>
      <div className={style.composer}>
        <Textarea
          classNames={{ input: style.input }}
          autosize
          minRows={1}
          maxRows={8}
          maxLength={32000}
          placeholder={say("placeholder")}
          aria-label={say("placeholder")}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKey}
        />
        <div className="row g6">
          <span className="push" />
          {chat.isLive ? (
            <ActionIcon variant="default" aria-label={say("stop")} onClick={chat.stop}>
              <Square size={13} />
            </ActionIcon>
          ) : (
            <ActionIcon variant="filled" aria-label={say("send")} disabled={!text.trim()} onClick={send}>
              <ArrowUp size={15} />
            </ActionIcon>
          )}
        </div>
      </div>
    </>
  );
}
