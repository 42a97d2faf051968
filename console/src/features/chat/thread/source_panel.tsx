import ArrowUpRight from "icon:arrow-up-right";
import { Button, Kbd } from "@mantine/core";
import type { Turn } from "../../../shared/chat/chat";
import { usePageCommands } from "../../../shared/frame/commands";
import { createTranslator } from "../../../shared/i18n/words";
import { KindIcon } from "../../../shared/marks/kind_icon";
import { SidePanel } from "../../../shared/patterns/side_panel";
import style from "./source.module.css";
import { numberOfSource, placeOfSource } from "./source_list";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");
const PREVIEW_LENGTH = 300;

type Props = { turn: Turn; index: number; onOpen: (index: number) => void; onClose: () => void };

/** A source beside the answer that cites it: its passage, and the other sources of the answer. */
export function SourcePanel({ turn, index, onOpen, onClose }: Props) {
  const sources = turn.stop?.sources ?? [];
  const numbers = sources.map(numberOfSource);
  const at = Math.max(0, numbers.indexOf(index));
  const source = sources[at];
  const moveBy = (step: number) => () => {
    const next = numbers[at + step];
    if (next !== undefined) onOpen(next);
  };
  usePageCommands([
    { label: say("nextSource"), keys: "j", run: moveBy(1) },
    { label: say("previousSource"), keys: "k", run: moveBy(-1) },
  ]);
  if (!source) return null;
  const { url, chunk_preview: passage } = source;
  return (
    <SidePanel
      label={say("source")}
      icon={<KindIcon kind="know" />}
      title={source.document_name}
      subtitle={placeOfSource(source)}
      onClose={onClose}
      foot={
        <>
          {url && /^https?:/.test(url) && (
            <Button
              component="a"
              size="xs"
              variant="default"
              rightSection={<ArrowUpRight size={13} />}
              href={url}
              target="_blank"
              rel="noopener noreferrer nofollow"
            >
              {say("openPage")}
            </Button>
          )}
          {sources.length > 1 && (
            <span className="push t-12 t-3 row g4 wide">
              <Kbd>J</Kbd>
              <Kbd>K</Kbd> {say("nextSource")}
            </span>
          )}
        </>
      }
    >
      <blockquote className={style.passage}>
        {passage}
        {passage.length >= PREVIEW_LENGTH && "…"}
      </blockquote>
      <div className="stack g6">
        <h3 className={`t-12 t-3 ${style.listHead}`}>{say("sourcesOfAnswer")}</h3>
        <ul className={style.list}>
          {sources.map((one, place) => (
            <li key={numbers[place]}>
              <button
                type="button"
                aria-current={place === at || undefined}
                onClick={() => onOpen(numbers[place] ?? 0)}
              >
                <b>{numbers[place]}</b>
                <span className="stack grow">
                  <span className="cut">{one.document_name}</span>
                  <span className="t-12 t-3">{placeOfSource(one)}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </SidePanel>
  );
}
