import Plus from "icon:plus";
import X from "icon:x";
import { ActionIcon, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay } from "../../shared/time";
import { AccessRuleForm } from "./access_rule_form";
import { useReferenceNames } from "./choices";
import style from "./credential.module.css";
import { type AccessRule, accessRulesQuery, removeAccessRule, useCredentialChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const ConfirmDialog = lazy(() => import("../../shared/confirm").then((found) => ({ default: found.ConfirmDialog })));

/** Who may use the credential: everything, until the first rule; from then on only what a rule names. */
export function AccessRules({ credentialId }: { credentialId: string }) {
  const mayWrite = usePermissionCheck()("credentials:write");
  const rules = useQuery(accessRulesQuery(credentialId));
  const [isAdding, setAdding] = useState(false);
  const [last, setLast] = useState<AccessRule>();
  const remove = useCredentialChange(removeAccessRule);
  const removeRule = ({ id: ruleId }: AccessRule) => remove.mutateAsync({ id: credentialId, ruleId });
  const nameOf = useReferenceNames(rules.data ?? []);
  const isOpen = rules.data?.length === 0;
  const askOrRemove = (rule: AccessRule) => {
    remove.reset();
    // Without any rule everything may use the credential: nobody opens it by one click.
    if (rules.data?.length === 1) setLast(rule);
    else void removeRule(rule).catch(() => undefined);
  };
  return (
    <SheetSection
      title={say("access")}
      note={say("accessHint")}
      actions={
        mayWrite && (
          <Button size="xs" variant="subtle" leftSection={<Plus size={13} />} onClick={() => setAdding(true)}>
            {say("addRule")}
          </Button>
        )
      }
    >
      {rules.error && <FailureState error={rules.error} onRetry={() => void rules.refetch()} />}
      {!rules.error && !rules.data && <RowSkeletons rows={2} columns={[30, 200]} />}
      {!last && <RefusalNote error={remove.error} />}
      {rules.data && (
        <div className="card">
          {rules.data.map((rule) => (
            <RuleLine
              key={rule.id}
              rule={rule}
              name={nameOf(rule)}
              isBusy={remove.isPending}
              onRemove={mayWrite ? () => askOrRemove(rule) : undefined}
            />
          ))}
          <div className={style.foot}>{say(isOpen ? "accessOpen" : "accessClosed")}</div>
        </div>
      )}
      {isAdding && (
        <AccessRuleForm credentialId={credentialId} isFirst={isOpen === true} onClose={() => setAdding(false)} />
      )}
      {last && (
        <Suspense fallback={null}>
          <ConfirmDialog
            title={say("lastRuleTitle", { name: nameOf(last) })}
            action={say("lastRuleRemove")}
            error={remove.error}
            isBusy={remove.isPending}
            onConfirm={() =>
              void removeRule(last).then(
                () => setLast(undefined),
                () => undefined,
              )
            }
            onClose={() => remove.isPending || setLast(undefined)}
          >
            <p>{say("lastRule")}</p>
          </ConfirmDialog>
        </Suspense>
      )}
    </SheetSection>
  );
}

type RuleLineProps = { rule: AccessRule; name: string; isBusy: boolean; onRemove?: () => void };

const RuleLine = ({ rule, name, isBusy, onRemove }: RuleLineProps) => (
  <div className={style.line}>
    <span className="t-13 t-500">{name}</span>
    <span className="t-12 t-3 grow">{say(`kind_${rule.integration_type}`)}</span>
    <span className="t-13 t-2">
      {rule.expires_at
        ? say("permissionUntil", { permission: say(`may_${rule.permission}`), day: formatDay(rule.expires_at) })
        : say(`may_${rule.permission}`)}
    </span>
    {onRemove && (
      <ActionIcon size={24} aria-label={say("removeRule", { name })} disabled={isBusy} onClick={onRemove}>
        <X size={13} />
      </ActionIcon>
    )}
  </div>
);
