import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import en from "./words.en.json";

const say = createTranslator(en, "features/users");

export function ChangeNameForm({ firstName, lastName }: { firstName: string; lastName: string }) {
  const client = useQueryClient();
  const [first, setFirst] = useState(firstName);
  const [last, setLast] = useState(lastName);
  const change = useMutation({
    mutationFn: () =>
      unwrapData(api.PUT("/api/v1/profile", { body: { first_name: first.trim(), last_name: last.trim() } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["users", "me"] }),
  });
  const { form, rest, problemOf } = useFieldProblems(change.error, ["first_name", "last_name"]);
  const isSame = first.trim() === firstName && last.trim() === lastName;
  return (
    <form ref={form} className="stack g12" onSubmit={createSubmitHandler(() => change.mutateAsync())}>
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
      <ProblemNote>{rest}</ProblemNote>
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
