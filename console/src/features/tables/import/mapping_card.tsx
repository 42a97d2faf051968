import { Select } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import { RowCheckbox } from "../../../shared/marks/row_checkbox";
import { StatusPill } from "../../../shared/marks/status";
import { SheetSection } from "../../../shared/patterns/sheet";
import { columnTypeName } from "../column_type";
import type { TableColumn, TableImport } from "../queries";
import en from "../words.en.json";
import type { ColumnGuess } from "./guess_mapping";
import style from "./import.module.css";

const say = createTranslator(en, "features/tables");
const VALUES_SHOWN = 3;
type MappingProps = {
  sample: NonNullable<TableImport["sample"]>;
  guesses: ColumnGuess[];
  columns: readonly TableColumn[];
  onChange: (guesses: ColumnGuess[]) => void;
};

/** Which column of the file goes into which column of the table; what was only guessed says so. */
export function MappingCard({ sample, guesses, columns, onChange }: MappingProps) {
  const setTarget = (from: string, to: string | null) =>
    onChange(
      guesses.map((one) =>
        one.from === from ? { from, to, isGuessed: false } : to && one.to === to ? { ...one, to: null } : one,
      ),
    );
  const findFree = () => columns.find(({ name }) => !guesses.some(({ to }) => to === name))?.name ?? null;
  return (
    <SheetSection title={say("mapping")} note={say("mappingHint")}>
      <div className="card scroll-x">
        <table className={style.map}>
          <thead>
            <tr>
              <th className={style.box}>
                <span className="sr">{say("take")}</span>
              </th>
              <th>{say("inFile")}</th>
              <th className="wide">{say("firstValues")}</th>
              <th>{say("column")}</th>
              <th className="wide">{say("readAs")}</th>
            </tr>
          </thead>
          <tbody>
            {guesses.map(({ from, to, isGuessed }, at) => {
              const target = columns.find(({ name }) => name === to);
              const values = sample.rows.map((cells) => cells[at]).filter(Boolean);
              return (
                <tr key={`${from} ${at}`} data-off={!to || undefined}>
                  <td className={style.box}>
                    <RowCheckbox
                      label={say("takeColumn", { name: from })}
                      isOn={Boolean(to)}
                      onChange={(isOn) => setTarget(from, isOn ? findFree() : null)}
                    />
                  </td>
                  <td className="t-500 cut">{from}</td>
                  <td className="wide cut mono t-12 t-2">{values.slice(0, VALUES_SHOWN).join(", ")}</td>
                  <td>
                    <Select
                      size="xs"
                      aria-label={say("columnFor", { name: from })}
                      placeholder={say("leaveOut")}
                      clearable
                      data={columns.map(({ name }) => name)}
                      value={to}
                      onChange={(value) => setTarget(from, value)}
                    />
                  </td>
                  <td className="wide t-2">
                    <span className="row g6">
                      {target ? columnTypeName(target.type) : say("leftOut")}
                      {isGuessed && <StatusPill tone="run">{say("guessed")}</StatusPill>}
                    </span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </SheetSection>
  );
}
