import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { administratorsQuery } from "../../shared/people/administrators";
import type { RoleKey } from "../../shared/people/role_keys";
import { describeRole, listGrantableRoles, roleNameOf } from "../../shared/people/roles";
import { showToast } from "../../shared/toast/toasts";
import type { Obstacle } from "./authority";
import { changeRole, type User, usePeopleChange } from "./queries";
import { fullNameOf } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** The role of a person, to be changed unless something stands against it, which is then said. */
export function UserRole({ user, obstacle }: { user: User; obstacle: Obstacle }) {
  const { data: me } = useQuery(meQuery);
  const [chosen, setChosen] = useState<RoleKey>(user.role);
  const change = usePeopleChange(changeRole);
  const saveRole = () =>
    change.mutate(
      { id: user.id, role: chosen },
      {
        onSuccess: () => showToast(say("roleChanged", { name: fullNameOf(user), role: roleNameOf(chosen) })),
      },
    );
  return (
    <section className="stack g8" aria-label={say("role")}>
      {obstacle ? (
        <div className="stack g2">
          <span className="t-13 t-500">{roleNameOf(user.role)}</span>
          {obstacle === "own" ? <OwnRoleHint /> : <span className="t-12 t-3">{say("aboveYou")}</span>}
        </div>
      ) : (
        <Select
          label={say("role")}
          allowDeselect={false}
          data={listGrantableRoles(me?.role).map((value) => ({ value, label: roleNameOf(value) }))}
          error={change.error ? asApiError(change.error).message : undefined}
          value={chosen}
          onChange={(value) => value && setChosen(value as RoleKey)}
        />
      )}
      <p className="t-13 t-2">
        {describeRole(chosen)}.{" "}
        <Link className="inline-link" to="/settings/roles">
          {say("allPermissions")}
        </Link>
      </p>
      {chosen !== user.role && (
        <div className="row g8">
          <Button size="xs" loading={change.isPending} onClick={saveRole}>
            {say("changeRole")}
          </Button>
          <Button size="xs" variant="default" onClick={() => setChosen(user.role)}>
            {say("keepRole")}
          </Button>
          <span className="t-12 t-3">{say("roleAtOnce")}</span>
        </div>
      )}
    </section>
  );
}

/** Why one's own role stays, and who can change it; the only administrator first has to make another one. */
function OwnRoleHint() {
  const { data: me } = useQuery(meQuery);
  const { data: found } = useQuery(administratorsQuery);
  const others = (found?.data ?? [])
    .filter(({ id, role }) => id !== me?.id && listGrantableRoles(role).some((one) => one === me?.role))
    .map(({ name }) => name);
  return (
    <span className="t-12 t-3">
      {others.length ? say("ownRole", { names: others.slice(0, 3).join(", ") }) : say("onlyAdministrator")}
    </span>
  );
}
