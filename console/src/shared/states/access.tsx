import { Button, Textarea } from "@mantine/core";
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { asApiError } from "../../api/errors";
import { permissionsQuery } from "../../api/queries";
import { words } from "../i18n/words";
import { permissionName } from "../permissions/permissions";
import en from "./words.en.json";

const say = words(en, "shared/states");
const MAX_NAMES = 3;

const administratorsQuery = queryOptions({
  queryKey: ["users", "administrators"],
  queryFn: () => data(api.GET("/users/administrators")),
  staleTime: 300_000,
  retry: false,
});

/** Who can give a permission, in a sentence. */
export function useGranters(isNeeded = true): string {
  const { data: found } = useQuery({ ...administratorsQuery, enabled: isNeeded });
  const names = (found?.data ?? []).map((one) => one.name);
  if (!names.length) return say("forbiddenAsk");
  return say("forbiddenWho", { names: names.slice(0, MAX_NAMES).join(", ") });
}

/** Why a control is disabled: "Needs the permission “Workflows: run”. Ines Novak can give it to you." Empty if it is not. */
export function useNeeds(permission: string): string {
  const { data: role } = useQuery(permissionsQuery);
  const isMissing = role !== undefined && !role.permissions.includes(permission);
  const who = useGranters(isMissing);
  return isMissing ? `${say("needs", { permission: permissionName(permission) })} ${who}` : "";
}

/** Ask the administrators for a permission, with a word why. */
export function AskForAccess({ permission }: { permission: string }) {
  const [isOpen, setOpen] = useState(false);
  const [note, setNote] = useState("");
  const ask = useMutation({
    mutationFn: () => data(api.POST("/api/v1/access-requests", { body: { permission, note } })),
  });
  if (ask.isSuccess || (ask.error && asApiError(ask.error).code === "access_already_requested"))
    return (
      <p className="t-13 t-2" role="status">
        {ask.isSuccess ? say("asked") : say("askedBefore")}
      </p>
    );
  if (!isOpen) return <Button onClick={() => setOpen(true)}>{say("ask")}</Button>;
  return (
    <form
      className="stack g8"
      style={{ inlineSize: 320, textAlign: "start" }}
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate();
      }}
    >
      <Textarea
        label={say("askNote")}
        value={note}
        maxLength={500}
        autosize
        minRows={2}
        data-autofocus
        onChange={(event) => setNote(event.currentTarget.value)}
        error={ask.error ? asApiError(ask.error).message : undefined}
      />
      <div>
        <Button type="submit" loading={ask.isPending}>
          {say("askSend")}
        </Button>
      </div>
    </form>
  );
}
