import ChevronRight from "icon:chevron-right";
import { memo, useCallback, useMemo, useState } from "react";
import { locale } from "../i18n/language";
import { createTranslator } from "../i18n/words";
import { KindIcon } from "../marks/kind_icon";
import { formatDuration, formatMoney } from "../time";
import { layOutRows, placeDuration, type Row, type Span } from "./layout";
import style from "./trace.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/trace");
const formatPercent = (share: number) => `${(share * 100).toFixed(3)}%`;

/** Bars in time. Hue says the kind, the paler part of a model's bar is the wait for its first word, hatching a person. */
export function TraceWaterfall({
  spans,
  chosen,
  onChoose,
}: {
  spans: Span[];
  chosen?: string;
  onChoose: (id: string) => void;
}) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const { rows, ticks } = useMemo(() => layOutRows(spans, folded), [spans, folded]);
  const fold = useCallback(
    (id: string) =>
      setFolded((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])),
    [],
  );
  return (
    <table className={style.falls} aria-label={say("steps")}>
      <thead>
        <tr>
          <th scope="col" className={style.stepHead}>
            {say("step")}
          </th>
          <th scope="col">
            <span className={`${style.axis} num`}>
              {ticks.map((tick) => (
                <i key={tick.at} style={{ insetInlineStart: formatPercent(tick.at) }}>
                  {formatDuration(tick.ms)}
                </i>
              ))}
            </span>
          </th>
          <th scope="col" className={style.figure}>
            {say("tokens")}
          </th>
          <th scope="col" className={style.figure}>
            {say("cost")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TraceStep
            key={row.span.span_id}
            row={row}
            isChosen={row.span.span_id === chosen}
            isFolded={folded.has(row.span.span_id)}
            onChoose={onChoose}
            onFold={fold}
          />
        ))}
      </tbody>
    </table>
  );
}

function timePositionOf(row: Row) {
  const end = row.left + row.width;
  const side = placeDuration(row);
  if (side === "after") return { insetInlineStart: `calc(${formatPercent(end)} + 6px)` };
  return { insetInlineEnd: `calc(${formatPercent(1 - (side === "before" ? row.left : end))} + 6px)` };
}

type StepProps = {
  row: Row;
  isChosen: boolean;
  isFolded: boolean;
  onChoose: (id: string) => void;
  onFold: (id: string) => void;
};

/** A walk through the steps concerns two rows; the others stay as they are. */
const TraceStep = memo(function Step({ row, isChosen, isFolded, onChoose, onFold }: StepProps) {
  const { span } = row;
  return (
    <tr className={`k-${row.kind === "hook" ? "turn" : row.kind} ${isChosen ? style.on : ""}`}>
      <td>
        <span className={style.name} style={{ paddingInlineStart: row.depth * 16 }}>
          {row.hasChildren ? (
            <button
              type="button"
              className={style.fold}
              aria-expanded={!isFolded}
              aria-label={say(isFolded ? "unfold" : "fold", { name: row.name })}
              onClick={() => onFold(span.span_id)}
            >
              <ChevronRight size={12} />
            </button>
          ) : (
            <i className={style.gap} />
          )}
          <button
            type="button"
            data-row
            data-span={span.span_id}
            className={style.pick}
            aria-pressed={isChosen}
            onClick={() => onChoose(span.span_id)}
          >
            <KindIcon kind={row.kind} small />
            <span className="t-500 cut">{row.name}</span>
            <span className={`t-3 cut ${style.note}`}>{row.note}</span>
          </button>
        </span>
      </td>
      <td>
        <span className={style.track}>
          <i
            className={`${style.bar} ${span.kind === "approval" ? style.hatched : ""}`}
            style={{ insetInlineStart: formatPercent(row.left), width: `max(3px, ${formatPercent(row.width)})` }}
          >
            {row.firstShare > 0 && <i className={style.first} style={{ width: formatPercent(row.firstShare) }} />}
          </i>
          <em className="num" style={timePositionOf(row)}>
            {formatDuration(span.duration_ms)}
          </em>
        </span>
      </td>
      <td className={`${style.figure} num`}>
        {row.tokens?.toLocaleString(locale)}
        {row.cachedShare !== undefined && (
          <span className={style.cache} title={say("fromCache", { percent: Math.round(row.cachedShare * 100) })}>
            <i style={{ width: formatPercent(row.cachedShare) }} />
          </span>
        )}
      </td>
      <td className={`${style.figure} num`}>{row.cost === undefined ? "" : formatMoney(row.cost)}</td>
    </tr>
  );
});
