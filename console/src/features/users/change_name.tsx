import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { words } from "../../shared/i18n/words";
import { useFields } from "../../shared/use_fields";
import en from "./words.en.json";

const say = words(en, "features/users");

export function ChangeName({ firstName, lastName }: { firstName: string; lastName: string }) {
  const client = useQueryClient();
  const [first, setFirst] = useState(firstName);
  const [last, setLast] = useState(lastName);
  const change = useMutation({
    mutationFn: () => data(api.PUT("/api/v1/profile", { body: { first_name: first.trim(), last_name: last.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["users", "me"] }),
  });
  const { form, rest, problemOf } = useFields(change.error, ["first_name", "last_name"]);
  const isSame = first.trim() === firstName && last.trim() === lastName;
  return (
    <form
      ref={form}
      className="stack g12"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <div className="row g12 wrap">
        <TextInput
          label={say("firstName")}
          autoComplete="given-name"
          error={problemOf("first_name")}
          maxLength={100}
          value={first}
          onChange={(event) => setFirst(event.currentTarget.value)}
        />
        <TextInput
          label={say("lastName")}
          autoComplete="family-name"
          error={problemOf("last_name")}
          maxLength={100}
          value={last}
          onChange={(event) => setLast(event.currentTarget.value)}
        />
      </div>
      {rest && (
        <div className="note bad" role="alert">
          {rest}
        </div>
      )}
      <div>
        <Button
          type="submit"
          variant="default"
          loading={change.isPending}
          disabled={isSame || !first.trim() || !last.trim()}
        >
          {say("saveName")}
        </Button>
      </div>
    </form>
  );
}
