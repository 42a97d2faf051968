import X from "icon:x";
import { ActionIcon, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { isDemoWarningKnown } from "../../shared/chat/chat";
import { AgentReply } from "../../shared/chat/reply";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { chatModelsQuery } from "../../shared/providers/queries";
import { formatDuration, formatMoney } from "../../shared/time";
import type { VersionName } from "../../shared/versions/queries";
import style from "./compare.module.css";
import type { Column } from "./comparison";
import { compareFigure, type FigureName, type ReplyFigures } from "./figures";
import en from "./words.en.json";

const say = createTranslator(en, "features/versions");
const FORMATS: Record<FigureName, (value: number) => string> = {
  time: formatDuration,
  firstWord: formatDuration,
  tokens: (value) => value.toLocaleString(locale),
  cached: (value) => `${Math.round(value * 100)} %`,
  cost: formatMoney,
};
const NAMES = Object.keys(FORMATS) as FigureName[];

function FigureRow({ own, all }: { own: ReplyFigures; all: ReplyFigures[] }) {
  return (
    <dl className={style.figures}>
      {NAMES.map((name) => {
        const value = own[name];
        const others = all.map((figures) => figures[name]);
        return (
          <div key={name}>
            <dt>{say(name)}</dt>
            <dd className="num" data-verdict={compareFigure(name, value, others)}>
              {value === undefined ? "–" : FORMATS[name](value)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

type Props = {
  column: Column;
  place: number;
  versions: VersionName[];
  now: number;
  figures: ReplyFigures[];
  isLocked: boolean;
  onChoose: (version: VersionName, model: string) => void;
  onRemove?: () => void;
  /** Asks the last question once more, in this column only. */
  onRetry: () => void;
};

function ColumnHead({
  column,
  place,
  versions,
  now,
  isLocked,
  onChoose,
  onRemove,
}: Omit<Props, "figures" | "onRetry">) {
  const { data: models } = useQuery(chatModelsQuery);
  const usable = [...new Set((models ?? []).filter(({ available }) => available).map(({ id }) => id))];
  const versionLabel = (version: VersionName) =>
    version === "draft"
      ? say("draft")
      : version === now
        ? say("versionNow", { version: `v${version}` })
        : `v${version}`;
  return (
    <div className={style.head}>
      <Select
        className="grow"
        aria-label={say("versionOf", { place })}
        data={versions.map((version) => ({ value: String(version), label: versionLabel(version) }))}
        value={String(column.version)}
        onChange={(value) => value && onChoose(value === "draft" ? value : Number(value), column.model)}
        allowDeselect={false}
        disabled={isLocked}
      />
      <Select
        className="grow"
        aria-label={say("modelOf", { place })}
        data={[{ value: "", label: say("ownModel") }, ...usable.map((id) => ({ value: id, label: id }))]}
        value={column.model}
        onChange={(value) => onChoose(column.version, value ?? "")}
        allowDeselect={false}
        disabled={isLocked}
        searchable
      />
      {onRemove && (
        <ActionIcon aria-label={say("removeColumn", { place })} onClick={onRemove} disabled={isLocked}>
          <X size={15} />
        </ActionIcon>
      )}
    </div>
  );
}

/** One side of the comparison: what answers, its figures and its replies. */
export function ColumnView({ figures, onRetry, ...rest }: Props) {
  const { column, place, isLocked } = rest;
  const last = column.turns.at(-1);
  return (
    <section className={style.column} aria-label={say("column", { place })}>
      <ColumnHead {...rest} />
      <FigureRow own={figures[place - 1] ?? {}} all={figures} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <div className={style.log} role="log" aria-label={say("repliesOf", { place })} tabIndex={0}>
        {column.turns.map((turn) => (
          <AgentReply
            key={turn.id}
            turn={turn}
            isDemoKnown={isDemoWarningKnown(turn, column.turns)}
            onRetry={turn === last && turn.error && !isLocked ? onRetry : undefined}
          />
        ))}
      </div>
    </section>
  );
}
