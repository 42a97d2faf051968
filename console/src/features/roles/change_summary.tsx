import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { readActingTenant } from "../../api/tenant";
import { createTranslator } from "../../shared/i18n/words";
import { ChangeBar } from "../../shared/patterns/change_bar";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { roleNameOf } from "../../shared/people/roles";
import { permissionNameOf } from "../../shared/permissions/permissions";
import type { RoleChange } from "./matrix";
import { holdersQuery } from "./queries";
import style from "./roles.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/roles");
const namesOf = (permissions: string[]) => permissions.map(permissionNameOf).join(", ");

/** One role's gains and losses in words, and how many people they concern. */
function RoleChangeLine({ change: { role, gained, lost } }: { change: RoleChange }) {
  // Within another organization the server counts only the people there, and the change is for all.
  const { data: count } = useQuery({ ...holdersQuery(role), enabled: !readActingTenant() });
  return (
    <li className="t-13">
      <b className="t-500">{roleNameOf(role)}</b>
      {count !== undefined && <span className="t-3"> ({say("people", { count })})</span>}
      {gained.length > 0 && <span className={style.gain}> {say("gains", { permissions: namesOf(gained) })}</span>}
      {lost.length > 0 && <span className={style.loss}> {say("loses", { permissions: namesOf(lost) })}</span>}
    </li>
  );
}

export const RoleChangeList = ({ changes }: { changes: RoleChange[] }) => (
  <ul className={`stack g4 ${style.changes}`}>
    {changes.map((change) => (
      <RoleChangeLine key={change.role} change={change} />
    ))}
  </ul>
);

type RoleChangeBarProps = { changes: RoleChange[]; isBusy: boolean; onDiscard: () => void; onReview: () => void };

export const RoleChangeBar = ({ changes, isBusy, onDiscard, onReview }: RoleChangeBarProps) => (
  <ChangeBar
    label={say("unsaved")}
    actions={
      <>
        <Button size="xs" variant="default" onClick={onDiscard}>
          {say("discard")}
        </Button>
        <Button size="xs" loading={isBusy} onClick={onReview}>
          {say("review")}
        </Button>
      </>
    }
  >
    <LeaveQuestion hasChanges />
    <RoleChangeList changes={changes} />
    <span className="t-12 t-3">{say("atOnce")}</span>
  </ChangeBar>
);
