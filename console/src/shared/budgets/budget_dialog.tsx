import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { general } from "../i18n/general";
import { createTranslator } from "../i18n/words";
import { ProblemNote } from "../patterns/refusal_note";
import { useFieldProblems } from "../use_fields";
import {
  BUDGET_FIELD_NAMES,
  BudgetFieldGroup,
  type BudgetForm,
  createBudgetForm,
  isBudgetComplete,
  toBudgetFields,
} from "./budget_fields";
import type { Budget } from "./forecast";
import { type BudgetScope, useDeleteBudget, useSaveBudget } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/budgets");

/** Removes with the second click: the first one asks. */
function RemoveButton({ isBusy, onRemove }: { isBusy: boolean; onRemove: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <Button
      className="push"
      color="red"
      variant={isAsked ? "filled" : "default"}
      loading={isBusy}
      onClick={() => (isAsked ? onRemove() : setAsked(true))}
    >
      {say(isAsked ? "removeSure" : "remove")}
    </Button>
  );
}

type BudgetDialogProps = { scope: BudgetScope; budget?: Budget; onClose: () => void };

/** Set, change or remove what this scope may spend. */
export function BudgetDialog({ scope, budget, onClose }: BudgetDialogProps) {
  const [form, setForm] = useState(() => createBudgetForm(budget));
  const save = useSaveBudget(scope, budget?.id);
  const remove = useDeleteBudget();
  const changeForm = (part: Partial<BudgetForm>) => setForm({ ...form, ...part });
  const { form: fields, rest, problemOf } = useFieldProblems(save.error, BUDGET_FIELD_NAMES);
  const refusal = rest || (remove.error && asApiError(remove.error).message);
  const isComplete = isBudgetComplete(form);
  return (
    <Modal opened onClose={onClose} title={say(budget ? "changeTitle" : "addTitle")}>
      <form
        ref={fields}
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) save.mutate(toBudgetFields(form), { onSuccess: onClose });
        }}
      >
        <ProblemNote>{refusal}</ProblemNote>
        <BudgetFieldGroup form={form} problemOf={problemOf} onChange={changeForm} />
        <div className="row g8">
          <Button type="submit" disabled={!isComplete} loading={save.isPending}>
            {say("saveBudget")}
          </Button>
          <Button variant="default" onClick={onClose}>
            {general("cancel")}
          </Button>
          {budget && (
            <RemoveButton isBusy={remove.isPending} onRemove={() => remove.mutate(budget.id, { onSuccess: onClose })} />
          )}
        </div>
      </form>
    </Modal>
  );
}
