import { Checkbox, MultiSelect, NumberInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePermissionCheck } from "../../../api/queries";
import { createTranslator } from "../../../shared/i18n/words";
import { SheetSection } from "../../../shared/patterns/sheet";
import { ROLES } from "../../../shared/people/role_keys";
import { roleNameOf } from "../../../shared/people/roles";
import { TagsField } from "../../../shared/tags_field";
import { approverChoicesQuery } from "../queries";
import en from "../words.en.json";
import { listEditableFields } from "./approval_fields";
import style from "./define.module.css";
import { type Definition, isAskingFirst } from "./definition";
import type { SectionProps } from "./settings_section";

const say = createTranslator(en, "features/tools");
type Rule = NonNullable<Definition["approval"]>;

/** Whether a person decides before a model's call runs, who that is, and what they may change. */
export function ApprovalSection({ entered, onChange, problemOf }: Omit<SectionProps, "onValidity">) {
  const { approval, requiresApproval } = entered;
  const setRule = (change: Partial<Rule>) => onChange({ approval: { ...approval, ...change } as Rule });
  return (
    <SheetSection title={say("approval")}>
      <div className={style.fields}>
        <Checkbox
          className={style.whole}
          label={say("asksFirst")}
          description={say("asksFirstHint")}
          checked={requiresApproval}
          onChange={(event) => onChange({ requiresApproval: event.currentTarget.checked })}
        />
        {isAskingFirst(entered) && (
          <>
            <ApproverFields
              approvers={approval?.approvers}
              problem={problemOf("approval.approvers")}
              onChange={(approvers) => setRule({ approvers })}
            />
            <TagsField
              label={say("editable")}
              description={say("editableHint")}
              data={listEditableFields(entered)}
              error={problemOf("approval.editable_fields")}
              value={approval?.editable_fields ?? []}
              onChange={(fields) => setRule({ editable_fields: fields })}
            />
            <NumberInput
              label={say("requiredApprovals")}
              description={say("requiredApprovalsHint")}
              min={1}
              max={100}
              error={problemOf("approval.required_approvals")}
              value={approval?.required_approvals ?? 1}
              onChange={(count) => setRule({ required_approvals: Number(count) || 1 })}
            />
            <Checkbox
              className={style.whole}
              label={say("selfApproval")}
              checked={approval?.allow_self_approval ?? false}
              onChange={(event) => setRule({ allow_self_approval: event.currentTarget.checked })}
            />
          </>
        )}
      </div>
    </SheetSection>
  );
}

type ApproverProps = {
  approvers: Rule["approvers"] | undefined;
  problem?: string;
  onChange: (approvers: NonNullable<Rule["approvers"]>) => void;
};

/** The roles and the people who decide; people only for those who may see them. */
function ApproverFields({ approvers, problem, onChange }: ApproverProps) {
  const maySeePeople = usePermissionCheck()("admin:users");
  const people = useQuery({ ...approverChoicesQuery, enabled: maySeePeople });
  const roles = approvers?.roles ?? [];
  const userIds = approvers?.user_ids ?? [];
  return (
    <>
      <MultiSelect
        label={say("approverRoles")}
        description={say("approverRolesHint")}
        searchable
        error={problem}
        data={ROLES.filter((role) => role !== "super_admin" && role !== "viewer").map((value) => ({
          value,
          label: roleNameOf(value),
        }))}
        value={[...roles]}
        onChange={(chosen) => onChange({ user_ids: userIds, roles: ROLES.filter((role) => chosen.includes(role)) })}
      />
      {maySeePeople && (
        <MultiSelect
          label={say("approverPeople")}
          description={say("approverPeopleHint")}
          searchable
          data={people.data ?? []}
          value={[...userIds]}
          onChange={(chosen) => onChange({ roles, user_ids: chosen })}
        />
      )}
    </>
  );
}
