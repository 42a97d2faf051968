import Lock from "icon:lock";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import type { ApiError } from "../../api/errors";
import { meQuery, permissionsQuery } from "../../api/queries";
import { dropRecentPlace } from "../frame/recent";
import { createTranslator } from "../i18n/words";
import { roleNameOf } from "../people/roles";
import { permissionNameOf } from "../permissions/permissions";
import { useAccessGranters } from "./access";
import { AskForAccessNote } from "./ask_for_access";
import { EmptyState, EmptyStateArt, homeButton } from "./empty";
import en from "./words.en.json";

const say = createTranslator(en, "shared/states");
const PERMISSION = /^[a-z_]+:[a-z_]+$/;

/** A page that needs a permission: which, which role one has, who can give it, and a way to ask. */
export function ForbiddenState({ error }: { error: ApiError }) {
  const required = String(error.details.required ?? error.code);
  const { data: me } = useQuery(meQuery);
  const address = useLocation({ select: (now) => now.pathname });
  // The bar above has kept the address before the server refused it.
  useEffect(() => {
    if (me) dropRecentPlace(me.id, address);
  }, [me, address]);
  const who = useAccessGranters();
  const held = useQueryClient().getQueryData(permissionsQuery.queryKey)?.permissions;
  const isPermission = PERMISSION.test(required);
  const canAsk = isPermission && !held?.includes(required);
  const told = { account_pending: say("accountPending"), email_not_verified: say("emailNotVerified") };
  return (
    <EmptyState
      art={<EmptyStateArt icon={Lock} tone="turn" />}
      title={say("forbiddenTitle")}
      actions={
        <>
          {canAsk && <AskForAccessNote permission={required} />}
          {homeButton}
        </>
      }
    >
      {isPermission ? (
        <>
          {say("forbiddenNeeds", { permission: permissionNameOf(required) })}{" "}
          <code className="mono t-12 t-3">{required}</code>. {say("forbiddenRole")}{" "}
          <b className="t-500">{error.details.your_role ? roleNameOf(String(error.details.your_role)) : "–"}</b>. {who}
        </>
      ) : (
        (told[error.reasonText as keyof typeof told] ?? error.message)
      )}
    </EmptyState>
  );
}
