import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusLabel, StatusPill } from "../../shared/marks/status";
import { providerNameOf } from "../../shared/providers/providers";
import { type ApiKey, testProviderKey, updateProviderKey, useProviderKeyChange } from "../../shared/providers/queries";
import { describeTestResult } from "../../shared/providers/server_words";
import { EmptyState } from "../../shared/states/empty";
import { formatExactTime, formatMoney, formatTimeSince } from "../../shared/time";
import { ChangeAddressDialog, DeleteKeyDialog, ReplaceKeyDialog } from "./key_dialogs";
import style from "./models.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/providers");

function KeyHealth({ of: key }: { of: ApiKey }) {
  if (!key.is_active) return <StatusLabel tone="idle">{say("off")}</StatusLabel>;
  if (!key.is_valid) return <StatusLabel tone="bad">{say("refused")}</StatusLabel>;
  if (key.last_tested_at || key.last_used_at) return <StatusLabel tone="ok">{say("working")}</StatusLabel>;
  return <StatusLabel tone="idle">{say("untested")}</StatusLabel>;
}

/** What the key is and when it was used. */
const KeySummary = ({ of: key }: { of: ApiKey }) => (
  <div className="grow stack">
    <span className="row g8 wrap">
      <b className={`t-500 ${style.name}`}>{key.name}</b>
      {key.key_prefix && <span className="mono t-12 t-3">{key.key_prefix}</span>}
      {key.is_default && <StatusPill>{say("default")}</StatusPill>}
    </span>
    <span className={style.line}>
      <span>{providerNameOf(key.provider)}</span>
      {key.base_url && <span className="mono">{key.base_url}</span>}
      {key.last_used_at && (
        <span title={formatExactTime(key.last_used_at)}>
          {say("used", { when: formatTimeSince(key.last_used_at) })}
        </span>
      )}
      {key.last_tested_at && (
        <span title={formatExactTime(key.last_tested_at)}>
          {say("tested", { when: formatTimeSince(key.last_tested_at) })}
        </span>
      )}
      {key.monthly_budget_usd !== null && <span>{say("budget", { amount: formatMoney(key.monthly_budget_usd) })}</span>}
    </span>
  </div>
);

type Dialog = "replace" | "address" | "delete" | "off";
type KeyMenuProps = {
  of: ApiKey;
  onDialog: (dialog: Dialog) => void;
  onUpdate: (change: { is_default?: boolean; is_active?: boolean }) => void;
};

function KeyMenu({ of: key, onDialog, onUpdate }: KeyMenuProps) {
  return (
    <ActionsMenu label={say("actions", { name: key.name })}>
      <Menu.Item onClick={() => onDialog("replace")}>{say("replace")}</Menu.Item>
      {key.base_url && <Menu.Item onClick={() => onDialog("address")}>{say("changeAddress")}</Menu.Item>}
      {!key.is_default && (
        <Menu.Item onClick={() => onUpdate({ is_default: true })}>
          {say("makeDefault", { provider: providerNameOf(key.provider) })}
        </Menu.Item>
      )}
      <Menu.Item onClick={() => (key.is_active ? onDialog("off") : onUpdate({ is_active: true }))}>
        {say(key.is_active ? "turnOff" : "turnOn")}
      </Menu.Item>
      <Menu.Item color="red" onClick={() => onDialog("delete")}>
        {say("delete")}
      </Menu.Item>
    </ActionsMenu>
  );
}

/** What the provider or server said to a test. */
const describeTestOutcome = (key: ApiKey, test: Awaited<ReturnType<typeof testProviderKey>>) =>
  say(test.success ? "testPassed" : "testFailed", {
    message: test.success
      ? say(key.key_prefix ? "testWorks" : "serverWorks", { count: test.models.length })
      : describeTestResult(test.message),
    ms: test.latency_ms,
  });

function ProviderKeyRow({ of: key, canWrite }: { of: ApiKey; canWrite: boolean }) {
  const [dialog, setDialog] = useState<Dialog>();
  const test = useProviderKeyChange(testProviderKey);
  const update = useProviderKeyChange(updateProviderKey);
  const refusal = test.error ?? update.error;
  const closeDialog = () => setDialog(undefined);
  const result = refusal ? asApiError(refusal).message : test.data && describeTestOutcome(key, test.data);
  return (
    <li data-off={!key.is_active || undefined}>
      <KindIcon kind="model" />
      <KeySummary of={key} />
      <KeyHealth of={key} />
      {canWrite && (
        <span className="row g6 fix">
          <Button
            size="xs"
            variant="default"
            loading={test.isPending}
            aria-label={say("testNamed", { name: key.name })}
            onClick={() => test.mutate(key.id)}
          >
            {say("test")}
          </Button>
          <KeyMenu of={key} onDialog={setDialog} onUpdate={(change) => update.mutate({ id: key.id, ...change })} />
        </span>
      )}
      {result && (
        <div className={`note ${refusal || !test.data?.success ? "bad" : "ok"} ${style.result}`} role="status">
          {result}
        </div>
      )}
      {dialog === "off" && (
        <ConfirmDialog
          title={say("turnOffTitle", { name: key.name })}
          action={say("turnOff")}
          error={update.error}
          isBusy={update.isPending}
          onConfirm={() => update.mutate({ id: key.id, is_active: false }, { onSuccess: closeDialog })}
          onClose={closeDialog}
        >
          <p>{say("turnOffText")}</p>
        </ConfirmDialog>
      )}
      {dialog === "address" && <ChangeAddressDialog of={key} onClose={closeDialog} />}
      {dialog === "replace" && <ReplaceKeyDialog of={key} onClose={closeDialog} />}
      {dialog === "delete" && <DeleteKeyDialog of={key} onClose={closeDialog} />}
    </li>
  );
}

/** The keys of providers; a secret is written, never shown. */
export function ProviderKeyList({ keys, canWrite, onAdd }: { keys: ApiKey[]; canWrite: boolean; onAdd: () => void }) {
  if (!keys.length)
    return (
      <div className="card">
        <EmptyState title={say("noKeysTitle")} actions={canWrite && <Button onClick={onAdd}>{say("add")}</Button>}>
          {say("noKeys")}
        </EmptyState>
      </div>
    );
  return (
    <ul className={`card ${style.rows}`}>
      {keys.map((key) => (
        <ProviderKeyRow key={key.id} of={key} canWrite={canWrite} />
      ))}
    </ul>
  );
}
