import { useQuery } from "@tanstack/react-query";
import { permissionsQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { administratorsQuery } from "../people/administrators";
import { permissionNameOf } from "../permissions/permissions";
import en from "./words.en.json";

const say = createTranslator(en, "shared/states");
const MAX_NAMES = 3;

/** Who can give a permission, in a sentence. */
export function useAccessGranters(isNeeded = true): string {
  const { data: found } = useQuery({ ...administratorsQuery, enabled: isNeeded });
  const names = (found?.data ?? []).map((one) => one.name);
  if (!names.length) return say("forbiddenAsk");
  return say("forbiddenWho", { names: names.slice(0, MAX_NAMES).join(", ") });
}

/** Why a control is disabled: "Needs the permission “Workflows: run”. Ines Novak can give it to you." Empty if it is not. */
export function useMissingAccessHint(permission: string): string {
  const { data: role } = useQuery(permissionsQuery);
  const isMissing = role !== undefined && !role.permissions.includes(permission);
  const who = useAccessGranters(isMissing);
  return isMissing ? `${say("needs", { permission: permissionNameOf(permission) })} ${who}` : "";
}
