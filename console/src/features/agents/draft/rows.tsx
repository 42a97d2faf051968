import ArrowDown from "icon:arrow-down";
import ArrowUp from "icon:arrow-up";
import GripVertical from "icon:grip-vertical";
import X from "icon:x";
import { ActionIcon, Tooltip } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import en from "../words.en.json";
import style from "./draft.module.css";

const say = createTranslator(en, "features/agents");

/** `key` is for rows whose id changes while one types in them: they stay the same element. */
export type RowItem = { id: string; key?: string; name: string; body: ReactNode; below?: ReactNode };
type Props = {
  label: string;
  rows: RowItem[];
  isReadOnly: boolean;
  onMove?: (from: number, to: number) => void;
  onRemove: (id: string) => void;
};

/** `items` with one of them at another place. */
export function moveItem<T>(items: T[], from: number, to: number): T[] {
  const rest = items.filter((_, at) => at !== from);
  const item = items[from];
  return item === undefined ? items : [...rest.slice(0, to), item, ...rest.slice(to)];
}

/** A list whose order matters: moved by dragging or by its buttons. */
export function SortableRows({ label, rows, isReadOnly, onMove, onRemove }: Props) {
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const endDrag = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  const dropAt = (at: number) => {
    if (dragged !== undefined && dragged !== at) onMove?.(dragged, at);
    endDrag();
  };
  return (
    <ul className={style.rows} aria-label={label}>
      {rows.map((row, at) => (
        <li
          key={row.key ?? row.id}
          data-over={over === at && dragged !== at ? ((dragged ?? 0) < at ? "after" : "before") : undefined}
          data-dragged={dragged === at || undefined}
          onDragOver={(event) => {
            if (dragged === undefined) return;
            event.preventDefault();
            setOver(at);
          }}
          onDrop={(event) => {
            event.preventDefault();
            dropAt(at);
          }}
        >
          <div className={style.rowLine}>
            {onMove && !isReadOnly && rows.length > 1 && (
              // biome-ignore lint/a11y/noStaticElementInteractions: the buttons of the row move it by keyboard
              <span className={style.grip} draggable onDragStart={() => setDragged(at)} onDragEnd={endDrag}>
                <GripVertical size={14} />
              </span>
            )}
            {row.body}
            {!isReadOnly && (
              <RowButtons
                name={row.name}
                canRise={Boolean(onMove) && at > 0}
                canSink={Boolean(onMove) && at < rows.length - 1}
                hasOrder={Boolean(onMove) && rows.length > 1}
                onMove={(step) => onMove?.(at, at + step)}
                onRemove={() => onRemove(row.id)}
              />
            )}
          </div>
          {row.below}
        </li>
      ))}
    </ul>
  );
}

type ButtonProps = {
  name: string;
  canRise: boolean;
  canSink: boolean;
  hasOrder: boolean;
  onMove: (step: number) => void;
  onRemove: () => void;
};

function RowButtons({ name, canRise, canSink, hasOrder, onMove, onRemove }: ButtonProps) {
  return (
    <span className={style.rowButtons}>
      {hasOrder && (
        <>
          <ActionIcon size={24} aria-label={say("moveUp", { name })} disabled={!canRise} onClick={() => onMove(-1)}>
            <ArrowUp size={13} />
          </ActionIcon>
          <ActionIcon size={24} aria-label={say("moveDown", { name })} disabled={!canSink} onClick={() => onMove(1)}>
            <ArrowDown size={13} />
          </ActionIcon>
        </>
      )}
      <Tooltip label={say("remove")}>
        <ActionIcon size={24} aria-label={say("removeNamed", { name })} onClick={onRemove}>
          <X size={13} />
        </ActionIcon>
      </Tooltip>
    </span>
  );
}
