import { createTranslator } from "../../../shared/i18n/words";
import { StatusPill, type Tone } from "../../../shared/marks/status";
import { Note } from "../../../shared/patterns/note";
import { translateSentence } from "../../../shared/sentences/sentences";
import { VersionDiff } from "../../../shared/versions/diff";
import style from "../organization.module.css";
import en from "../words.en.json";
import { countActions, describeFieldDifference, groupBySection, type PlannedObject } from "./plan_summary";
import { sectionNameOf } from "./section_names";

const say = createTranslator(en, "features/organization");
const TONES: Record<PlannedObject["action"], Tone | undefined> = {
  create: "ok",
  update: "run",
  delete: "bad",
  unchanged: undefined,
};

/** What a file changes, object by object with each field before and after; what needs a look stands first. */
export function PlannedChanges({ changes, warnings }: { changes: PlannedObject[]; warnings: string[] }) {
  const kept = changes.filter(({ action }) => action === "unchanged");
  return (
    <div className="stack g12">
      {warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {translateSentence(warning)}
        </Note>
      ))}
      {changes.length > 0 && <PlanCountsLine changes={changes} />}
      {groupBySection(changes).map(([section, objects]) => (
        <section key={section} className="stack g8" aria-label={sectionNameOf(section)}>
          <h3 className="t-sec">{sectionNameOf(section)}</h3>
          <ul className="card">
            {objects.map((one) => (
              <PlannedEntry key={one.name} planned={one} />
            ))}
          </ul>
        </section>
      ))}
      {kept.length > 0 && (
        <details className={style.kept}>
          <summary className="t-13 t-2">{say("kept", { count: kept.length })}</summary>
          <p className="t-13 t-3">{kept.map(({ section, name }) => `${section}/${name}`).join(", ")}</p>
        </details>
      )}
    </div>
  );
}

function PlanCountsLine({ changes }: { changes: PlannedObject[] }) {
  const counts = countActions(changes);
  return (
    <p className="t-13" role="status">
      {say("planCounts", { ...counts, kept: counts.unchanged })}
    </p>
  );
}

const PlannedEntry = ({ planned }: { planned: PlannedObject }) => (
  <li className={style.planned}>
    <div className="row g8">
      <StatusPill tone={TONES[planned.action]}>{say(`action_${planned.action}`)}</StatusPill>
      <span className="t-13 t-500 cut">{planned.name}</span>
    </div>
    {planned.diff.length > 0 && <VersionDiff changes={planned.diff.map(describeFieldDifference)} />}
  </li>
);
