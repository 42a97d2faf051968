import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { translateProblem } from "../../../shared/refusals/refusals";
import style from "../organization.module.css";
import en from "../words.en.json";
import { listFileProblems } from "./plan_summary";

const say = createTranslator(en, "features/organization");

/** Why a file cannot be applied: what is wrong with which object of it. */
export function FileProblemList({ error }: { error: Error }) {
  const refusal = asApiError(error);
  const problems = refusal.status === 422 ? listFileProblems(refusal.details) : [];
  if (!problems.length) return <ProblemNote>{refusal.message}</ProblemNote>;
  return (
    <div className="note bad" role="alert">
      <div className="stack g8">
        <b className="t-500">{say("problems", { count: problems.length })}</b>
        <ul className="stack g4">
          {problems.map(({ place, text }) => (
            <li key={place} className={style.problem}>
              <code className="mono t-12">{place}</code> {translateProblem(text)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
