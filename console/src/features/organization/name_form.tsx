import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { createSubmitHandler } from "../../shared/submit_handler";
import { showToast } from "../../shared/toast/toasts";
import { useFieldProblems } from "../../shared/use_fields";
import style from "./organization.module.css";
import { useOrganizationChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");
const MAX_NAME_LENGTH = 100;

/** The name of the organization; the buttons come with the first change. */
export function OrganizationNameForm({ name }: { name: string }) {
  const [typed, setTyped] = useState(name);
  const change = useOrganizationChange();
  const { form, rest, problemOf } = useFieldProblems(change.error, ["name"]);
  const wanted = typed.trim();
  const rename = async () => {
    await change.mutateAsync({ name: wanted });
    showToast(say("renamed", { name: wanted }));
  };
  return (
    <form ref={form} className={`stack g8 ${style.field}`} onSubmit={createSubmitHandler(rename)}>
      <TextInput
        label={say("name")}
        description={say("nameHint")}
        autoComplete="organization"
        maxLength={MAX_NAME_LENGTH}
        error={problemOf("name") ?? (rest || undefined)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {wanted !== name && (
        <div className="row g8">
          <Button type="submit" size="xs" loading={change.isPending} disabled={!wanted}>
            {say("saveName")}
          </Button>
          <Button size="xs" variant="default" onClick={() => setTyped(name)}>
            {say("keepName")}
          </Button>
        </div>
      )}
    </form>
  );
}
