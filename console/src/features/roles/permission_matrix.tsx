import Check from "icon:check";
import Lock from "icon:lock";
import { Fragment } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { RowCheckbox } from "../../shared/marks/row_checkbox";
import { ROLES, type RoleKey } from "../../shared/people/role_keys";
import { roleNameOf } from "../../shared/people/roles";
import { permissionAreaName, permissionNameOf, permissionVerbName } from "../../shared/permissions/permissions";
import { type Choices, isChanged, isPermissionHeld, isReserved, LOCKED_ROLE, type RolePermissions } from "./matrix";
import style from "./roles.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/roles");
type Choose = (role: RoleKey, permission: string, isOn: boolean) => void;

type PermissionMatrixProps = {
  stored: RolePermissions;
  choices: Choices;
  rows: [area: string, permissions: string[]][];
  /** Absent for those who may only look. */
  onChoose?: Choose;
};

/** Permissions in words down the side, roles along the top. */
export const PermissionMatrix = ({ stored, choices, rows, onChoose }: PermissionMatrixProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
  <div className={`card ${style.frame}`} role="group" tabIndex={0} aria-label={say("title")}>
    <table className={style.matrix}>
      <caption className="sr">{say("title")}</caption>
      <thead>
        <tr>
          <th scope="col">{say("permission")}</th>
          {ROLES.map((role) => (
            <th key={role} scope="col" className={role === LOCKED_ROLE ? "wide" : undefined}>
              {roleNameOf(role)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([area, permissions]) => (
          <Fragment key={area}>
            <tr className={style.area}>
              <th colSpan={ROLES.length + 1} scope="colgroup">
                {permissionAreaName(area)}
              </th>
            </tr>
            {permissions.map((permission) => (
              <tr key={permission}>
                <th scope="row">
                  <span className={style.what}>{permissionVerbName(permission.slice(area.length + 1))}</span>
                  <code className="mono t-12 t-3 wide">{permission}</code>
                </th>
                {ROLES.map((role) => (
                  <td
                    key={role}
                    className={role === LOCKED_ROLE ? "wide" : undefined}
                    data-changed={isChanged(stored, choices, role, permission) || undefined}
                  >
                    <MatrixCell
                      role={role}
                      permission={permission}
                      isOn={isPermissionHeld(stored, choices, role, permission)}
                      isNew={isChanged(stored, choices, role, permission)}
                      onChoose={onChoose}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </Fragment>
        ))}
      </tbody>
    </table>
  </div>
);

type MatrixCellProps = { role: RoleKey; permission: string; isOn: boolean; isNew: boolean; onChoose?: Choose };

function MatrixCell({ role, permission, isOn, isNew, onChoose }: MatrixCellProps) {
  if (role === LOCKED_ROLE)
    return (
      <span title={say("always")}>
        <Lock size={13} />
        <span className="sr">{say("always")}</span>
      </span>
    );
  if (isReserved(permission))
    return (
      <span className="t-3" title={say("reserved")}>
        <span aria-hidden>–</span>
        <span className="sr">{say("reserved")}</span>
      </span>
    );
  if (!onChoose)
    return (
      <span>
        {isOn && <Check size={15} />}
        <span className="sr">{say(isOn ? "may" : "mayNot")}</span>
      </span>
    );
  return (
    <span className={style.choice}>
      <RowCheckbox
        label={`${roleNameOf(role)}: ${permissionNameOf(permission)}`}
        isOn={isOn}
        onChange={(isChosen) => onChoose(role, permission, isChosen)}
      />
      {isNew && <span className="t-12 t-500">{say(isOn ? "added" : "removed")}</span>}
    </span>
  );
}
