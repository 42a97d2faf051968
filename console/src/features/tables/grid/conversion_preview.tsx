import Check from "icon:check";
import { asApiError } from "../../../api/errors";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { translateProblem } from "../../../shared/refusals/refusals";
import en from "../words.en.json";
import style from "./grid.module.css";

const say = createTranslator(en, "features/tables");
const EXAMPLES_SHOWN = 5;
type RefusedValue = { row_id: string; value: unknown; message: string };
type PreviewProps = { error: Error | null; isBusy: boolean; isFine: boolean; count: number };

/** What a new type would do to the values that there are, before anything is changed. */
export function ConversionPreview({ error, isBusy, isFine, count }: PreviewProps) {
  if (isBusy)
    return (
      <p className="t-13 t-3" role="status">
        {say("checking")}
      </p>
    );
  if (isFine)
    return (
      <Note tone="ok" icon={<Check size={15} />}>
        {say("allFit", { count })}
      </Note>
    );
  if (!error) return null;
  const { code, message, details } = asApiError(error);
  if (code !== "cannot_convert") return <Note tone="bad">{message}</Note>;
  const rows = (details.rows as RefusedValue[] | undefined) ?? [];
  return (
    <Note tone="bad">
      <span>{say("cannotConvert", { count: Number(details.count) })}</span>
      <ul className={`${style.problems} t-12 stack`}>
        {rows.slice(0, EXAMPLES_SHOWN).map(({ row_id, value, message: problem }) => (
          <li key={row_id}>
            <code className="mono">{String(value ?? "–")}</code> {translateProblem(problem)}
          </li>
        ))}
        {Number(details.count) > EXAMPLES_SHOWN && (
          <li>{say("andMore", { count: (Number(details.count) - EXAMPLES_SHOWN).toLocaleString(locale) })}</li>
        )}
      </ul>
    </Note>
  );
}
