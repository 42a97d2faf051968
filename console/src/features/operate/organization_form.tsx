import { Button, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { showToast } from "../../shared/toast/toasts";
import { useFieldProblems } from "../../shared/use_fields";
import { PLANS } from "./filters";
import { listPlanChoices } from "./plan_names";
import { type Tenant, useOrganizationUpdate } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const MAX_NAME_LENGTH = 100;

/** Another name or plan; the buttons come with the first change. */
export function OrganizationForm({ organization }: { organization: Tenant }) {
  const [name, setName] = useState(organization.name);
  const [plan, setPlan] = useState(organization.plan);
  const update = useOrganizationUpdate();
  const { form, rest, problemOf } = useFieldProblems(update.error, ["name", "plan"]);
  const wanted = name.trim();
  const isChanged = wanted !== organization.name || plan !== organization.plan;
  const save = async () => {
    await update.mutateAsync({ id: organization.id, name: wanted, plan });
    showToast(say("organizationSaved", { name: wanted }));
  };
  const discard = () => {
    setName(organization.name);
    setPlan(organization.plan);
  };
  return (
    <form ref={form} className="stack g12" onSubmit={createSubmitHandler(save)}>
      <ProblemNote>{rest}</ProblemNote>
      <TextInput
        label={say("name")}
        error={problemOf("name")}
        maxLength={MAX_NAME_LENGTH}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label={say("plan")}
        description={say("planHint")}
        error={problemOf("plan")}
        data={listPlanChoices()}
        value={plan}
        onChange={(value) => setPlan(PLANS.find((one) => one === value) ?? plan)}
      />
      {isChanged && (
        <div className="row g8">
          <Button type="submit" size="xs" loading={update.isPending} disabled={!wanted}>
            {say("save")}
          </Button>
          <Button size="xs" variant="default" onClick={discard}>
            {say("discard")}
          </Button>
        </div>
      )}
    </form>
  );
}
