import Check from "icon:check";
import ChevronDown from "icon:chevron-down";
import X from "icon:x";
import { useState } from "react";
import type { Turn } from "../../../shared/chat/chat";
import { describeWork } from "./done_work";
import style from "./message.module.css";

/** What the agent did before it spoke: one line in words, and its steps below it. */
export function WorkLine({ turn }: { turn: Turn }) {
  const [isOpen, setOpen] = useState(false);
  const work = describeWork(turn);
  if (!work) return null;
  return (
    <div className={style.work}>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {work.state === "live" ? (
          <i className="dot run" />
        ) : work.state === "done" ? (
          <Check size={13} />
        ) : (
          <X size={13} />
        )}
        <span>{work.line}</span>
        <ChevronDown size={13} />
      </button>
      {isOpen && (
        <ul>
          {work.steps.map(({ text, outcome }, at) => (
            <li key={at}>
              <span className="grow">{text}</span>
              <span className="num">{outcome}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
