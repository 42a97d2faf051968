import Pause from "icon:pause";
import Play from "icon:play";
import { Button, Kbd } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { everySecond } from "../../shared/clock";
import { createTranslator } from "../../shared/i18n/words";
import style from "./events.module.css";
import { countLastMinute, type Tail } from "./tail";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");

type Props = { tail: Tail; onToggle: () => void };

/** Whether the log runs, how much happens, and the button that holds it. */
export function LiveLine({ tail, onToggle }: Props) {
  const now = useSyncExternalStore(everySecond, () => Math.floor(Date.now() / 1000));
  return (
    <div className={style.live}>
      <i className={`dot ${tail.isHeld ? "idle" : "run"}`} />
      <span>
        {tail.isHeld
          ? say("held", { count: tail.held.length })
          : say("live", { count: countLastMinute(tail, now * 1000) })}
      </span>
      <span className="push row g8">
        <span className="wide">
          <Kbd>{say("space")}</Kbd>
        </span>
        <Button
          size="compact-xs"
          variant="default"
          leftSection={tail.isHeld ? <Play size={12} /> : <Pause size={12} />}
          onClick={onToggle}
        >
          {say(tail.isHeld ? "goOn" : "pause")}
        </Button>
      </span>
    </div>
  );
}
