import Trash from "icon:trash-2";
import { ActionIcon, Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { basePath } from "../../api/base";
import { CopyableCode } from "../../shared/code";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay, formatExactTime, formatTimeSince } from "../../shared/time";
import { writeFirstCall } from "./presets";
import {
  type Account,
  createSecret,
  deleteSecret,
  type NewSecret,
  type Secret,
  secretsQuery,
  useAccountChange,
} from "./queries";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/service_accounts");
const MAX_SECRETS = 2;

function SecretRow({ of: secret, mayWrite, onDelete }: { of: Secret; mayWrite: boolean; onDelete: () => void }) {
  const isOver = new Date(secret.expires_at).getTime() <= Date.now();
  return (
    <li className={style.secret}>
      <div className="grow stack">
        <span className="mono t-13">{secret.secret_prefix}…</span>
        <span className="t-12 t-2">
          <span title={formatExactTime(secret.expires_at)}>
            {isOver ? say("expired") : say("expires", { when: formatDay(secret.expires_at) })}
          </span>
          {" · "}
          {secret.last_used_at
            ? say("secretUsed", { when: formatTimeSince(secret.last_used_at) })
            : say("secretUnused")}
        </span>
      </div>
      {mayWrite && (
        <ActionIcon aria-label={say("deleteSecret", { prefix: secret.secret_prefix })} onClick={onDelete}>
          <Trash size={15} />
        </ActionIcon>
      )}
    </li>
  );
}

type Props = {
  of: Account;
  mayWrite: boolean;
  onMade: (name: string, secret: NewSecret) => void;
  onClose: () => void;
};

/** The secrets of an account: up to two at once, so that one can be replaced without a gap. */
export function SecretsDialog({ of: account, mayWrite, onMade, onClose }: Props) {
  const list = useQuery(secretsQuery(account.id));
  const create = useAccountChange(createSecret);
  const remove = useAccountChange(deleteSecret);
  const secrets = list.data?.data;
  const [leaving, setLeaving] = useState<Secret>();
  if (leaving)
    return (
      <ConfirmDialog
        title={say("deleteSecretTitle", { prefix: leaving.secret_prefix })}
        action={say("delete")}
        error={remove.error}
        isBusy={remove.isPending}
        onConfirm={() =>
          remove.mutate({ id: account.id, secretId: leaving.id }, { onSuccess: () => setLeaving(undefined) })
        }
        onClose={() => setLeaving(undefined)}
      >
        <p>{say("deleteSecretText")}</p>
      </ConfirmDialog>
    );
  const live = secrets?.filter((secret) => new Date(secret.expires_at).getTime() > Date.now()) ?? [];
  const createAndShowSecret = () =>
    void create.mutateAsync(account.id).then(
      (newSecret) => onMade(account.name, newSecret),
      () => undefined,
    );
  return (
    <Modal opened onClose={onClose} title={say("secretsOf", { name: account.name })} size={480}>
      <div className="stack g16">
        <RefusalNote error={create.error} />
        <p className="t-13 t-2">{say("rotateHint")}</p>
        {list.error && !secrets && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && !secrets && <RowSkeletons rows={2} columns={[240, 40]} />}
        {secrets?.length === 0 && <p className="t-13 t-2">{say("noSecrets")}</p>}
        {secrets && secrets.length > 0 && (
          <ul className="stack g8">
            {secrets.map((secret) => (
              <SecretRow key={secret.id} of={secret} mayWrite={mayWrite} onDelete={() => setLeaving(secret)} />
            ))}
          </ul>
        )}
        {mayWrite && (
          <Button
            className="push"
            loading={create.isPending}
            disabled={live.length >= MAX_SECRETS}
            onClick={createAndShowSecret}
          >
            {say("createSecret")}
          </Button>
        )}
      </div>
    </Modal>
  );
}

export type ShownSecret = { name: string; secret: NewSecret };

/** The only time that a secret is shown; nothing but the button closes it. */
export function SecretShownOnce({ of: { name, secret }, onClose }: { of: ShownSecret; onClose: () => void }) {
  const server = `${window.location.origin}${basePath}`;
  return (
    <Modal
      opened
      onClose={onClose}
      title={say("shownOnce", { name })}
      size={560}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <div className="stack g16">
        <p className="t-2">{say("shownOnceText")}</p>
        <CopyableCode label={say("clientId")} text={secret.client_id} />
        <CopyableCode label={say("clientSecret")} text={secret.client_secret} />
        <CopyableCode label={say("endpoint")} text={writeFirstCall(server, secret.client_id, secret.client_secret)} />
        <Button className="push" onClick={onClose}>
          {say("stored")}
        </Button>
      </div>
    </Modal>
  );
}
