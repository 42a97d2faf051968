import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { Confirm } from "../../shared/confirm";
import { words } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { Pill, Status } from "../../shared/marks/status";
import { providerName } from "../../shared/providers/providers";
import { type ApiKey, testKey, updateKey, useKeyChange } from "../../shared/providers/queries";
import { testWords } from "../../shared/providers/server_words";
import { Empty } from "../../shared/states/empty";
import { exactTime, money, timeSince } from "../../shared/time";
import { DeleteKey, ReplaceKey } from "./key_dialogs";
import style from "./models.module.css";
import en from "./words.en.json";

const say = words(en, "features/providers");

function Health({ of: key }: { of: ApiKey }) {
  if (!key.is_active) return <Status tone="idle">{say("off")}</Status>;
  if (!key.is_valid) return <Status tone="bad">{say("refused")}</Status>;
  if (key.last_tested_at || key.last_used_at) return <Status tone="ok">{say("working")}</Status>;
  return <Status tone="idle">{say("untested")}</Status>;
}

/** What the key is and when it was used. */
const About = ({ of: key }: { of: ApiKey }) => (
  <div className="grow stack">
    <span className="row g8 wrap">
      <b className={`t-500 ${style.name}`}>{key.name}</b>
      {key.key_prefix && <span className="mono t-12 t-3">{key.key_prefix}</span>}
      {key.is_default && <Pill>{say("default")}</Pill>}
    </span>
    <span className={style.line}>
      <span>{providerName(key.provider)}</span>
      {key.base_url && <span className="mono">{key.base_url}</span>}
      {key.last_used_at && (
        <span title={exactTime(key.last_used_at)}>{say("used", { when: timeSince(key.last_used_at) })}</span>
      )}
      {key.last_tested_at && (
        <span title={exactTime(key.last_tested_at)}>{say("tested", { when: timeSince(key.last_tested_at) })}</span>
      )}
      {key.monthly_budget_usd !== null && <span>{say("budget", { amount: money(key.monthly_budget_usd) })}</span>}
    </span>
  </div>
);

type Dialog = "replace" | "delete" | "off";
type KeyMenuProps = {
  of: ApiKey;
  onDialog: (dialog: Dialog) => void;
  onUpdate: (change: { is_default?: boolean; is_active?: boolean }) => void;
};

function KeyMenu({ of: key, onDialog, onUpdate }: KeyMenuProps) {
  return (
    <ActionsMenu label={say("actions", { name: key.name })}>
      <Menu.Item onClick={() => onDialog("replace")}>{say("replace")}</Menu.Item>
      {!key.is_default && (
        <Menu.Item onClick={() => onUpdate({ is_default: true })}>
          {say("makeDefault", { provider: providerName(key.provider) })}
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
const resultOf = (key: ApiKey, test: Awaited<ReturnType<typeof testKey>>) =>
  say(test.success ? "testPassed" : "testFailed", {
    message: test.success
      ? say(key.key_prefix ? "testWorks" : "serverWorks", { count: test.models.length })
      : testWords(test.message),
    ms: test.latency_ms,
  });

function Row({ of: key, canWrite }: { of: ApiKey; canWrite: boolean }) {
  const [dialog, setDialog] = useState<Dialog>();
  const test = useKeyChange(testKey);
  const update = useKeyChange(updateKey);
  const refusal = test.error ?? update.error;
  const close = () => setDialog(undefined);
  const result = refusal ? asApiError(refusal).message : test.data && resultOf(key, test.data);
  return (
    <li data-off={!key.is_active || undefined}>
      <KindIcon of="model" />
      <About of={key} />
      <Health of={key} />
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
        <Confirm
          title={say("turnOffTitle", { name: key.name })}
          action={say("turnOff")}
          error={update.error}
          isBusy={update.isPending}
          onConfirm={() => update.mutate({ id: key.id, is_active: false }, { onSuccess: close })}
          onClose={close}
        >
          <p>{say("turnOffText")}</p>
        </Confirm>
      )}
      {dialog === "replace" && <ReplaceKey of={key} onClose={close} />}
      {dialog === "delete" && <DeleteKey of={key} onClose={close} />}
    </li>
  );
}

/** The keys of providers; a secret is written, never shown. */
export function ProviderKeys({ keys, canWrite, onAdd }: { keys: ApiKey[]; canWrite: boolean; onAdd: () => void }) {
  if (!keys.length)
    return (
      <div className="card">
        <Empty title={say("noKeysTitle")} actions={canWrite && <Button onClick={onAdd}>{say("add")}</Button>}>
          {say("noKeys")}
        </Empty>
      </div>
    );
  return (
    <ul className={`card ${style.rows}`}>
      {keys.map((key) => (
        <Row key={key.id} of={key} canWrite={canWrite} />
      ))}
    </ul>
  );
}
