import { Checkbox } from "@mantine/core";
import { createTranslator } from "../../../shared/i18n/words";
import type { JsonValues } from "../queries";
import en from "../words.en.json";
import style from "./define.module.css";

const say = createTranslator(en, "features/tools");
type Functions = Record<string, JsonValues>;

/** The functions of an MCP server as they were agreed to, each with whether it asks first. */
export const FunctionRows = ({
  functions,
  onChange,
}: {
  functions: Functions;
  onChange: (next: Functions) => void;
}) => (
  <ul className={`card ${style.rows}`} aria-label={say("functions")}>
    {Object.entries(functions).map(([name, described]) => (
      <li key={name} className={style.row}>
        <span className="stack grow">
          <span className="mono t-12">{name}</span>
          {typeof described.description === "string" && <span className="t-12 t-3 cut">{described.description}</span>}
        </span>
        <Checkbox
          label={say("asksFirst")}
          aria-label={say("asksFirstOf", { name })}
          checked={described.requires_approval === true}
          onChange={(event) =>
            onChange({ ...functions, [name]: { ...described, requires_approval: event.currentTarget.checked } })
          }
        />
      </li>
    ))}
    {Object.keys(functions).length === 0 && <li className={`${style.row} t-13 t-3`}>{say("noFunctions")}</li>}
  </ul>
);
