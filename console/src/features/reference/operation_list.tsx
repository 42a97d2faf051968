import ChevronRight from "icon:chevron-right";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useRef, useState } from "react";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { SearchField } from "../../shared/list/search_field";
import { type ApiOperation, groupOperations, type Reference } from "./document";
import { MethodLabel } from "./method_label";
import style from "./reference.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");

const TAG_NAMES: Record<string, string> = { mfa: "MFA", openai: "OpenAI" };

type OperationListProps = {
  reference: Reference;
  chosenId?: string;
  text: string;
  onSearch: (text?: string) => void;
};

/** All operations by tag. A tag shows its operations once it is opened, or while something is searched. */
export function OperationList({ reference, chosenId, text, onSearch }: OperationListProps) {
  const list = useRef<HTMLElement>(null);
  useRowKeys(list);
  const searched = useDeferredValue(text);
  const groups = groupOperations(reference.operations, searched);
  const chosenTag = reference.operations.find(({ id }) => id === chosenId)?.tag;
  return (
    <nav className={style.list} ref={list} aria-label={say("operations")}>
      <div className={style.find}>
        <SearchField label={say("find")} value={text || undefined} onChange={onSearch} />
      </div>
      {groups.length === 0 && (
        <div className={style.nothing}>
          <p className="t-13 t-2">{say("nothingFound")}</p>
          <button type="button" className={`link ${style.fold}`} onClick={() => onSearch()}>
            {say("clear")}
          </button>
        </div>
      )}
      {groups.map(([tag, operations]) => (
        <TagGroup
          key={`${tag} ${searched ? "found" : tag === chosenTag}`}
          tag={tag}
          operations={operations}
          isOpenFirst={Boolean(searched) || tag === chosenTag}
          chosenId={chosenId}
          text={text}
        />
      ))}
    </nav>
  );
}

type TagGroupProps = {
  tag: string;
  operations: ApiOperation[];
  isOpenFirst: boolean;
  chosenId?: string;
  text: string;
};

function TagGroup({ tag, operations, isOpenFirst, chosenId, text }: TagGroupProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <section>
      <button type="button" className={style.tag} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={14} />
        <span className="grow" lang="en">
          {TAG_NAMES[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1)}
        </span>
        <span className="t-12 t-3 num">{operations.length}</span>
      </button>
      {isOpen && (
        <ul>
          {operations.map((one) => (
            <li key={one.id}>
              <Link
                className={style.row}
                to="/reference/$operationId"
                params={{ operationId: one.id }}
                search={text ? { search: text } : {}}
                aria-current={one.id === chosenId ? "page" : undefined}
                title={one.path}
                preload={false}
                data-row
              >
                <MethodLabel method={one.method} />
                <span className="cut" lang="en">
                  {one.title}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
