import X from "icon:x";
import { Popover, UnstyledButton } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { createTranslator } from "../i18n/words";
import { closesByEscape } from "../popover_escape";
import style from "./filter_chip.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/list");

type FrameProps = { label: string; isSet: boolean; onClear: () => void; children: ReactNode };

/** A filter in a toolbar: dashed while it is open for anything, with its value and a way out once it is set. */
export const FilterChipFrame = ({ label, isSet, onClear, children }: FrameProps) => (
  <span className={style.filter} data-set={isSet || undefined}>
    {children}
    {isSet && (
      <UnstyledButton className={style.clear} aria-label={say("removeFilter", { name: label })} onClick={onClear}>
        <X size={12} />
      </UnstyledButton>
    )}
  </span>
);

export const FilterChipText = ({ label, value }: { label: string; value?: string }) => (
  <>
    {label}
    {value && <b className="cut">{value}</b>}
  </>
);

type Props = {
  label: string;
  /** What is chosen, in words. */
  value?: string;
  onClear: () => void;
  /** The fields that choose; `close` is called once they have. */
  children: (close: () => void) => ReactNode;
};

/** A filter that opens fields of its own. */
export function FilterChip({ label, value, onClear, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const closing = closesByEscape(() => setOpen(false));
  return (
    <FilterChipFrame label={label} isSet={Boolean(value)} onClear={onClear}>
      <Popover
        {...closing.popover}
        opened={isOpen}
        onChange={setOpen}
        trapFocus
        returnFocus
        position="bottom-start"
        width={260}
        shadow="md"
      >
        <Popover.Target>
          <button type="button" className={`chip ${value ? "set" : ""}`} onClick={() => setOpen(!isOpen)}>
            <FilterChipText label={label} value={value} />
          </button>
        </Popover.Target>
        <Popover.Dropdown {...closing.dropdown} aria-label={label} className={style.fields}>
          {children(() => setOpen(false))}
        </Popover.Dropdown>
      </Popover>
    </FilterChipFrame>
  );
}
