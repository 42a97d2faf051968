import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { findEmailProblem, findPasswordProblem, findRequiredProblem, useFormChecks } from "../../shared/form_checks";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { operateTabName } from "../../shared/operate/names";
import { OPERATE_PERMISSION } from "../../shared/operate/tabs";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { SecretInput } from "../../shared/secret_input";
import { useMissingAccessHint } from "../../shared/states/access";
import { showToast } from "../../shared/toast/toasts";
import { useFieldProblems } from "../../shared/use_fields";
import { PLANS, type PlanName } from "./filters";
import style from "./operate.module.css";
import { listPlanChoices } from "./plan_names";
import { createOrganization } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const MAX_NAME_LENGTH = 100;
const SHEET_WIDTH = 720;
const FIELDS = ["name", "plan", "admin.first_name", "admin.last_name", "admin.email", "admin.password"] as const;
const EMPTY = { name: "", first_name: "", last_name: "", email: "", password: "" };
type TextField = keyof typeof EMPTY;

/** The organization's name and plan, and its first administrator, who is handed the password. */
function useNewOrganization() {
  const [texts, setTexts] = useState(EMPTY);
  const [plan, setPlan] = useState<PlanName>();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createOrganization,
    onSuccess: () => client.invalidateQueries({ queryKey: ["tenants", "list"] }),
  });
  const fields = useFieldProblems(create.error, FIELDS);
  const checks = useFormChecks(fields.form, {
    name: findRequiredProblem(texts.name),
    "admin.first_name": findRequiredProblem(texts.first_name),
    "admin.last_name": findRequiredProblem(texts.last_name),
    "admin.email": findEmailProblem(texts.email),
    "admin.password": findPasswordProblem(texts.password),
  });
  const { name, password, ...admin } = texts;
  const trimmed = Object.fromEntries(Object.entries(admin).map(([key, text]) => [key, text.trim()])) as typeof admin;
  const body = { name: name.trim(), ...(plan ? { plan } : {}), admin: { ...trimmed, password } };
  const inputOf = (field: TextField) => {
    const path = field === "name" ? field : (`admin.${field}` as const);
    return {
      label: say(field === "name" ? "name" : `admin_${field}`),
      required: true,
      withAsterisk: false,
      error: checks.wrong(path) ?? fields.problemOf(path),
      maxLength: MAX_NAME_LENGTH,
      value: texts[field],
      onChange: (event: { currentTarget: { value: string } }) => {
        const { value } = event.currentTarget;
        setTexts((now) => ({ ...now, [field]: value }));
      },
    };
  };
  return { plan, setPlan, create, fields, body, inputOf, check: checks.check };
}

/** Make an organization together with its first administrator. */
export default function NewOrganizationPage() {
  const navigate = useNavigate();
  const mayOperate = usePermissionCheck()(OPERATE_PERMISSION);
  const missing = useMissingAccessHint(OPERATE_PERMISSION);
  const { plan, setPlan, create, fields, body, inputOf, check } = useNewOrganization();
  const trail = [{ label: operateTabName({ word: "organizations" }), to: "/operate/organizations" }];
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!check()) return;
    create.mutate(body, {
      onSuccess: ({ id, name }) => {
        showToast(say("organizationMade", { name }));
        void navigate({ to: "/operate/organizations", search: { id } });
      },
    });
  };
  return (
    <form ref={fields.form} className={style.create} noValidate onSubmit={handleSubmit}>
      <PageBar trail={trail} title={say("newOrganization")} />
      <Sheet width={SHEET_WIDTH}>
        {missing && <div className="note">{missing}</div>}
        <ProblemNote>{fields.rest}</ProblemNote>
        <SheetSection title={say("organization")}>
          <div className={`card ${style.card}`}>
            <TextInput className={style.field} autoFocus {...inputOf("name")} />
            <Select
              className={style.field}
              label={say("plan")}
              description={say("planHint")}
              placeholder={say("usualPlan")}
              error={fields.problemOf("plan")}
              data={listPlanChoices()}
              value={plan ?? null}
              onChange={(value) => setPlan(PLANS.find((one) => one === value))}
            />
          </div>
        </SheetSection>
        <SheetSection title={say("firstAdmin")} note={say("firstAdminNote")}>
          <div className={`card ${style.card}`}>
            <div className={style.pair}>
              <TextInput {...inputOf("first_name")} />
              <TextInput {...inputOf("last_name")} />
            </div>
            <TextInput className={style.field} type="email" autoComplete="off" {...inputOf("email")} />
            <SecretInput
              className={style.field}
              description={say("passwordHint")}
              autoComplete="new-password"
              {...inputOf("password")}
            />
          </div>
        </SheetSection>
      </Sheet>
      <footer className={style.createFoot}>
        <p className="t-13 t-2">
          {body.name ? say("willMake", { name: body.name, email: body.admin.email || "…" }) : say("nothingStored")}
        </p>
        <Button type="submit" loading={create.isPending} disabled={!mayOperate}>
          {say("createOrganization")}
        </Button>
      </footer>
    </form>
  );
}
