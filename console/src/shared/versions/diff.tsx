import Minus from "icon:minus";
import Plus from "icon:plus";
import { createTranslator } from "../i18n/words";
import { KindIcon } from "../marks/kind_icon";
import { StatusPill } from "../marks/status";
import type { VersionChange } from "./changes";
import { countLines, type Line } from "./lines";
import style from "./versions.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/versions");

function DiffLine({ line }: { line: Line }) {
  if (line.kind === "gap") return <li className={style.gap}>{say("unchanged", { count: line.count })}</li>;
  return (
    <li className={style.line} data-kind={line.kind}>
      <span className={style.sign}>
        {line.kind === "more" && <Plus size={11} role="img" aria-label={say("lineMore")} />}
        {line.kind === "less" && <Minus size={11} role="img" aria-label={say("lineLess")} />}
      </span>
      <span>{line.text || " "}</span>
    </li>
  );
}

function DiffLines({ label, lines }: { label: string; lines: Line[] }) {
  return (
    <section className={style.block} aria-label={label}>
      <div className={style.blockHead}>
        <span className="t-500">{label}</span>
        <span className="t-3">
          {say("lines", { more: countLines(lines, "more"), less: countLines(lines, "less") })}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <ul className={style.lines} tabIndex={0} aria-label={label}>
        {lines.map((line, i) => (
          <DiffLine key={i} line={line} />
        ))}
      </ul>
    </section>
  );
}

function ChangeEntry({ change }: { change: VersionChange }) {
  if (change.shape === "lines") return <DiffLines label={change.label} lines={change.lines} />;
  return (
    <div className={style.item}>
      {change.kind !== "field" && <KindIcon kind={change.kind} small />}
      <span className="t-500 fix">{change.label}</span>
      {change.shape === "value" ? (
        <span className={style.values}>
          <del>{change.from}</del>
          <span aria-hidden>→</span>
          <ins>{change.to}</ins>
        </span>
      ) : (
        <>
          <span className="t-3 cut grow">{change.about}</span>
          <StatusPill tone={change.shape === "added" ? "ok" : "bad"}>{say(change.shape)}</StatusPill>
        </>
      )}
    </div>
  );
}

/** Two versions side by side in words: texts by lines, everything else as before and after. */
export function VersionDiff({ changes }: { changes: VersionChange[] }) {
  if (!changes.length) return <p className="t-3">{say("noChanges")}</p>;
  return (
    <div className={style.diff}>
      {changes.map((change) => (
        <ChangeEntry key={change.path} change={change} />
      ))}
    </div>
  );
}
