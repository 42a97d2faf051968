import { SegmentedControl } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";
import style from "./split.module.css";

const say = createTranslator(en, "features/agents");
const KEY = "retinue.panes.agent";
const START = 52;
const MIN = 30;
const MAX = 72;
const STEP = 2;
const clampShare = (share: number) => Math.min(MAX, Math.max(MIN, Math.round(share * 10) / 10));

/** Two panes with a line between them that is dragged or moved by arrow keys; on phones one of the two. */
export function SplitPane({ left, right }: { left: ReactNode; right: ReactNode }) {
  const isNarrow = useMediaQuery("(max-width: 900px)", window.innerWidth <= 900);
  const [share, setShare] = useState(() => clampShare(Number(localStorage.getItem(KEY)) || START));
  const [side, setSide] = useState("edit");
  const whole = useRef<HTMLDivElement>(null);
  const placeDivider = (next: number) => {
    setShare(clampShare(next));
    localStorage.setItem(KEY, String(clampShare(next)));
  };
  const dragDivider = (event: PointerEvent<HTMLElement>) => {
    const box = whole.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const along =
      getComputedStyle(event.currentTarget).direction === "rtl" ? box.right - event.clientX : event.clientX - box.left;
    placeDivider((along / box.width) * 100);
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: MIN, End: MAX }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    placeDivider(next);
  };
  return (
    <>
      {isNarrow && (
        <SegmentedControl
          className={style.sides}
          fullWidth
          aria-label={say("sides")}
          data={[
            { value: "edit", label: say("edit") },
            { value: "try", label: say("try") },
          ]}
          value={side}
          onChange={setSide}
        />
      )}
      <div
        className={style.split}
        ref={whole}
        style={isNarrow ? undefined : { gridTemplateColumns: `${share}% 1px minmax(0, 1fr)` }}
      >
        <div className={style.left} hidden={isNarrow && side !== "edit"}>
          {left}
        </div>
        {!isNarrow && (
          // biome-ignore lint/a11y/useSemanticElements: a rule between two panes that can be moved
          <div
            className={style.separator}
            role="separator"
            tabIndex={0}
            aria-orientation="vertical"
            aria-label={say("resize")}
            aria-valuenow={Math.round(share)}
            aria-valuemin={MIN}
            aria-valuemax={MAX}
            onKeyDown={handleKeyDown}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={dragDivider}
            onDoubleClick={() => placeDivider(START)}
          />
        )}
        <section className={style.right} hidden={isNarrow && side !== "try"} aria-label={say("playground")}>
          {right}
        </section>
      </div>
    </>
  );
}
