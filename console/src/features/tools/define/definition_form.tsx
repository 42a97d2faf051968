import type { Ref } from "react";
import { lazy, Suspense } from "react";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { useFieldProblems } from "../../../shared/use_fields";
import { AboutToolSection, InputSection } from "./about_section";
import type { CodeView } from "./code_editor";
import style from "./define.module.css";
import { configFieldsOf, configKindOf, type Definition } from "./definition";
import { type SectionProps, SettingsSection } from "./settings_section";

const AuthenticationSection = lazy(() =>
  import("./authentication_section").then((found) => ({ default: found.AuthenticationSection })),
);
const ApprovalSection = lazy(() => import("./approval_section").then((found) => ({ default: found.ApprovalSection })));

const NAMED_FIELDS = ["name", "description", "config", "input_schema", "auth_config", "approval"];

type DefinitionFormProps = Omit<SectionProps, "problemOf"> & {
  entered: Definition;
  error: Error | null;
  storedCredentialId?: string | null;
  codeView?: Ref<CodeView>;
};

/** All that is entered of a tool: of one that exists, and of one that is made. */
export function DefinitionForm({ error, storedCredentialId, codeView, ...parts }: DefinitionFormProps) {
  const keys = configFieldsOf(configKindOf(parts.entered)).map(({ name }) => name);
  const { form, rest, problemOf } = useFieldProblems<string, HTMLFieldSetElement>(error, [...NAMED_FIELDS, ...keys]);
  const fields = { ...parts, problemOf };
  return (
    <fieldset className={style.set} disabled={parts.isReadOnly} ref={form}>
      <ProblemNote>{rest}</ProblemNote>
      <AboutToolSection {...fields} />
      <SettingsSection {...fields} codeView={codeView} />
      <Suspense fallback={null}>
        <AuthenticationSection {...fields} storedCredentialId={storedCredentialId} />
      </Suspense>
      <InputSection {...fields} />
      <Suspense fallback={null}>
        <ApprovalSection {...fields} />
      </Suspense>
    </fieldset>
  );
}
