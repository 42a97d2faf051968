import { Button, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { tenantQuery, usePermissionCheck } from "../../api/queries";
import {
  BUDGET_FIELD_NAMES,
  BudgetFieldGroup,
  type BudgetForm,
  createBudgetForm,
  isBudgetComplete,
  toBudgetFields,
} from "../../shared/budgets/budget_fields";
import { describeAction, describeLimit } from "../../shared/budgets/budget_words";
import { useSaveBudget } from "../../shared/budgets/queries";
import { PageBar } from "../../shared/frame/bar";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { PermissionGate } from "../../shared/states/permission_gate";
import { useFieldProblems } from "../../shared/use_fields";
import { OWNER_PERMISSIONS, type OwnerType, ownersQuery } from "./names";
import style from "./usage.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const SCOPE_TYPES = ["tenant", "agent", "user", "embed_key", "provider_key"] as const;
const SEARCH_WAIT_MS = 200;
type Owner = { id: string; name: string };
type ScopeChoice = { type: (typeof SCOPE_TYPES)[number]; owner?: Owner };

/** A new budget: whose spending it limits, how much, and what happens then. */
export default function NewBudgetPage() {
  return (
    <>
      <PageBar
        trail={[
          { label: say("title"), to: "/usage" },
          { label: say("budgets"), to: "/usage/budgets" },
        ]}
        title={say("addBudget")}
        isThere={false}
      />
      <PermissionGate permission="usage:write">
        <Sheet width={760}>
          <NewBudgetForm />
        </Sheet>
      </PermissionGate>
    </>
  );
}

function NewBudgetForm() {
  const navigate = useNavigate();
  const [scope, setScope] = useState<ScopeChoice>({ type: "tenant" });
  const [form, setForm] = useState(() => createBudgetForm());
  const { data: tenant } = useQuery(tenantQuery);
  const save = useSaveBudget({ type: scope.type, id: scope.owner?.id });
  const { form: fields, rest, problemOf } = useFieldProblems(save.error, [...BUDGET_FIELD_NAMES, "scope.id"]);
  const isComplete = isBudgetComplete(form) && (scope.type === "tenant" || scope.owner !== undefined);
  const name = scope.type === "tenant" ? (tenant?.name ?? say("scope_tenant")) : scope.owner?.name;
  return (
    <form
      ref={fields}
      className={style.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete)
          save.mutate(toBudgetFields(form), {
            onSuccess: () => void navigate({ to: "/usage/budgets", replace: true }),
          });
      }}
    >
      <ProblemNote>{rest}</ProblemNote>
      <SheetSection title={say("whose")}>
        <ScopeFields scope={scope} problem={problemOf("scope.id")} onChange={setScope} />
      </SheetSection>
      <SheetSection title={say("howMuch")}>
        <BudgetFieldGroup
          form={form}
          hasFocus={false}
          problemOf={problemOf}
          onChange={(part: Partial<BudgetForm>) => setForm({ ...form, ...part })}
        />
      </SheetSection>
      <div className="row g8 wrap">
        <span className="t-12 t-3 grow">
          {isComplete && name ? say("willBe", { name, ...sentenceOf(form) }) : say("nothingStored")}
        </span>
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/usage/budgets" />}>
          {general("cancel")}
        </Button>
        <Button type="submit" loading={save.isPending} disabled={!isComplete}>
          {say("createBudget")}
        </Button>
      </div>
    </form>
  );
}

function sentenceOf(form: BudgetForm) {
  const fields = toBudgetFields(form);
  return { limit: describeLimit(fields), action: describeAction(fields) };
}

type ScopeFieldsProps = { scope: ScopeChoice; problem?: string; onChange: (scope: ScopeChoice) => void };

function ScopeFields({ scope, problem, onChange }: ScopeFieldsProps) {
  const may = usePermissionCheck();
  const types = SCOPE_TYPES.filter((type) => type === "tenant" || may(OWNER_PERMISSIONS[type]));
  return (
    <div className={style.fields}>
      <Select
        label={say("limitsWhom")}
        allowDeselect={false}
        data={types.map((value) => ({ value, label: say(`scope_${value}`) }))}
        value={scope.type}
        onChange={(value) => onChange({ type: SCOPE_TYPES.find((type) => type === value) ?? "tenant" })}
      />
      {scope.type !== "tenant" && (
        <OwnerSelect
          key={scope.type}
          type={scope.type}
          owner={scope.owner}
          problem={problem}
          onChange={(owner) => onChange({ type: scope.type, owner })}
        />
      )}
    </div>
  );
}

type OwnerSelectProps = { type: OwnerType; owner?: Owner; problem?: string; onChange: (owner?: Owner) => void };

/** One of possibly very many: the server searches while somebody types. */
function OwnerSelect({ type, owner, problem, onChange }: OwnerSelectProps) {
  const [text, setText] = useState("");
  const [search] = useDebouncedValue(text === owner?.name ? "" : text, SEARCH_WAIT_MS);
  const owners = useQuery(ownersQuery(type, search));
  const found = owners.data ?? [];
  const choices = owner && !found.some(({ id }) => id === owner.id) ? [owner, ...found] : found;
  return (
    <Select
      label={say(`scope_${type}`)}
      searchable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      nothingFoundMessage={owners.isPending ? say("searching") : say("noMatchTitle")}
      data={choices.map(({ id, name }) => ({ value: id, label: name }))}
      error={problem ?? owners.error?.message}
      value={owner?.id ?? null}
      onChange={(id) => onChange(choices.find((one) => one.id === id))}
    />
  );
}
