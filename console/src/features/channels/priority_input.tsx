import { NumberInput } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import style from "./channel_form.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type PriorityInputProps = { value: number; problem?: string; onChange: (priority: number) => void };

/** In which order the channels of a kind are tried. */
export const PriorityInput = ({ value, problem, onChange }: PriorityInputProps) => (
  <NumberInput
    className={style.order}
    label={say("priority")}
    description={say("priorityHint")}
    error={problem}
    min={0}
    max={1_000_000}
    allowDecimal={false}
    allowNegative={false}
    clampBehavior="strict"
    value={value}
    onChange={(entered) => onChange(Number(entered) || 0)}
  />
);
