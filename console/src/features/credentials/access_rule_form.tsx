import { Button, Modal, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { useFieldProblems } from "../../shared/use_fields";
import { choicesQuery, INTEGRATION_TYPES, type IntegrationType, listIntegrationTypes } from "./choices";
import { expiryOfDay } from "./expiry_day";
import { addAccessRule, useCredentialChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const PERMISSIONS = ["use", "reveal", "manage"] as const;
type Permission = (typeof PERMISSIONS)[number];
type AccessRuleFormProps = { credentialId: string; isFirst: boolean; onClose: () => void };

/** Add a rule; the first one shuts out everything else, which is said before it is stored. */
export function AccessRuleForm({ credentialId, isFirst, onClose }: AccessRuleFormProps) {
  const [type, setType] = useState<IntegrationType>("tool");
  const [chosenId, setChosenId] = useState<string | null>(null);
  const [permission, setPermission] = useState<Permission>("use");
  const [lastDay, setLastDay] = useState("");
  const kinds = listIntegrationTypes(usePermissionCheck());
  const choices = useQuery(choicesQuery(type));
  const add = useCredentialChange(addAccessRule);
  const { form, rest, problemOf } = useFieldProblems(add.error, ["integration_id", "expires_at"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!chosenId) return;
    const expiry = lastDay ? { expires_at: expiryOfDay(lastDay) } : {};
    add.mutate(
      { id: credentialId, integration_type: type, integration_id: chosenId, permission, ...expiry },
      { onSuccess: onClose },
    );
  };
  return (
    <Modal opened onClose={onClose} title={say("addRuleTitle")} size={440}>
      <form className="stack g16" ref={form} onSubmit={submit}>
        {isFirst && <div className="note warn">{say("firstRule")}</div>}
        <ProblemNote>{rest}</ProblemNote>
        <Select
          label={say("ruleKind")}
          allowDeselect={false}
          data={kinds.map((value) => ({ value, label: say(`kind_${value}`) }))}
          value={type}
          onChange={(value) => {
            setType(INTEGRATION_TYPES.find((name) => name === value) ?? "tool");
            setChosenId(null);
          }}
        />
        <Select
          label={say("ruleWhich")}
          searchable
          data-autofocus
          nothingFoundMessage={say("noMatchTitle")}
          data={(choices.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          error={problemOf("integration_id") ?? choices.error?.message}
          value={chosenId}
          onChange={setChosenId}
        />
        <SegmentedControl
          aria-label={say("permission")}
          data={PERMISSIONS.map((value) => ({ value, label: say(`may_${value}`) }))}
          value={permission}
          onChange={(value) => setPermission(PERMISSIONS.find((name) => name === value) ?? "use")}
        />
        <TextInput
          type="date"
          label={say("until")}
          description={say("untilHint")}
          error={problemOf("expires_at")}
          value={lastDay}
          onChange={(event) => setLastDay(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={add.isPending} disabled={!chosenId}>
            {say("addRule")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
