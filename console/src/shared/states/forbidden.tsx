import Lock from "icon:lock";
import { useQueryClient } from "@tanstack/react-query";
import type { ApiError } from "../../api/errors";
import { permissionsQuery } from "../../api/queries";
import { words } from "../i18n/words";
import { AskForAccess, useGranters } from "./access";
import { Art, Empty, home } from "./states";
import en from "./words.en.json";

const say = words(en, "shared/states");
const PERMISSION = /^[a-z_]+:[a-z_]+$/;

/** A page that needs a permission: which, which role one has, who can give it, and a way to ask. */
export function Forbidden({ error }: { error: ApiError }) {
  const required = String(error.details.required ?? error.code);
  const who = useGranters();
  const held = useQueryClient().getQueryData(permissionsQuery.queryKey)?.permissions;
  const isPermission = PERMISSION.test(required);
  const canAsk = isPermission && !held?.includes(required);
  const told = { account_pending: say("accountPending"), email_not_verified: say("emailNotVerified") };
  return (
    <Empty
      art={<Art icon={Lock} tone="turn" />}
      title={say("forbiddenTitle")}
      actions={
        <>
          {canAsk && <AskForAccess permission={required} />}
          {home}
        </>
      }
    >
      {isPermission ? (
        <>
          {say("forbiddenNeeds")} <code className="mono">{required}</code>. {say("forbiddenRole")}{" "}
          <code className="mono">{String(error.details.your_role ?? "–")}</code>. {who}
        </>
      ) : (
        (told[error.reason as keyof typeof told] ?? error.message)
      )}
    </Empty>
  );
}
