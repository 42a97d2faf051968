import { Button } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import { RowCheckbox } from "../../../shared/marks/row_checkbox";
import { StatusPill } from "../../../shared/marks/status";
import { SheetSection } from "../../../shared/patterns/sheet";
import en from "../words.en.json";
import style from "./new_tool.module.css";

const say = createTranslator(en, "features/tools");
export type OfferedFunction = { name: string; method?: string; summary: string; writes: boolean };
type ChooseFunctionsProps = {
  offered: OfferedFunction[];
  chosen: string[];
  onChoose: (names: string[]) => void;
};

/** What the tool may do: few functions make better agents. */
export function ChooseFunctions({ offered, chosen, onChoose }: ChooseFunctionsProps) {
  const reading = offered.filter(({ writes }) => !writes).map(({ name }) => name);
  return (
    <SheetSection
      title={say("mayDo")}
      note={say("chosenOf", { count: chosen.length, total: offered.length })}
      actions={
        <>
          <Button size="xs" variant="subtle" onClick={() => onChoose(reading)}>
            {say("allThatRead")}
          </Button>
          <Button size="xs" variant="subtle" onClick={() => onChoose([])}>
            {say("none")}
          </Button>
        </>
      }
    >
      <ul className={`card ${style.functions}`} aria-label={say("mayDo")}>
        {offered.map(({ name, method, summary, writes }) => {
          const isOn = chosen.includes(name);
          return (
            <li key={name} className={style.function} data-off={!isOn || undefined}>
              <RowCheckbox
                label={say("chooseNamed", { name })}
                isOn={isOn}
                onChange={(next) => onChoose(next ? [...chosen, name] : chosen.filter((one) => one !== name))}
              />
              {method && (
                <span className={style.method} data-writes={writes || undefined}>
                  {method}
                </span>
              )}
              <span className="stack grow">
                <span className="mono t-12">{name}</span>
                {summary && <span className="t-12 t-3 cut">{summary}</span>}
              </span>
              {isOn && writes && <StatusPill tone="warn">{say("asksFirst")}</StatusPill>}
            </li>
          );
        })}
      </ul>
      <p className="t-12 t-3">{say("mayDoHint")}</p>
    </SheetSection>
  );
}
