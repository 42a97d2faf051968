import { Button, Menu, Switch } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { Note } from "../../shared/patterns/note";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import style from "./audit.module.css";
import { type AuditReceiver, changeReceiver, deleteReceiver, testReceiver, useReceiverChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

/** How a receiver is, in a dot and a word. */
function ReceiverState({ receiver: { enabled, last_error, lag } }: { receiver: AuditReceiver }) {
  if (!enabled) return <StatusLabel tone="idle">{say("paused")}</StatusLabel>;
  if (last_error) return <StatusLabel tone="bad">{say("refuses", { count: lag })}</StatusLabel>;
  if (lag > 0) return <StatusLabel tone="run">{say("behind", { count: lag })}</StatusLabel>;
  return <StatusLabel tone="ok">{say("upToDate")}</StatusLabel>;
}

type ReceiverRowProps = { receiver: AuditReceiver; mayChange: boolean; onChange: () => void };

/** One receiver: how far it is, with a test, a pause and the way out. */
export function ReceiverRow({ receiver, mayChange, onChange }: ReceiverRowProps) {
  const { id, name, config, enabled, last_sent_at, last_error } = receiver;
  const [isLeaving, setLeaving] = useState(false);
  const test = useReceiverChange(testReceiver);
  const pause = useReceiverChange(changeReceiver);
  const error = test.error ?? pause.error;
  return (
    <li className={style.receiver}>
      <span className="stack g2 grow">
        <span className="t-13 t-500 cut">{name}</span>
        <span className="mono t-12 t-3 cut">{config.url}</span>
        <span className="row g12 wrap">
          <ReceiverState receiver={receiver} />
          <span className="t-12 t-3" title={last_sent_at ? formatExactTime(last_sent_at) : undefined}>
            {last_sent_at ? say("sent", { when: formatTimeSince(last_sent_at) }) : say("neverSent")}
          </span>
        </span>
      </span>
      {mayChange && (
        <span className="row g8 fix">
          <Switch
            aria-label={say("sendTo", { name })}
            checked={enabled}
            disabled={pause.isPending}
            onChange={(event) => pause.mutate({ id, enabled: event.currentTarget.checked })}
          />
          <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate(id)}>
            {say("test")}
          </Button>
          <ActionsMenu label={say("more", { name })}>
            <Menu.Item onClick={onChange}>{say("change")}</Menu.Item>
            <Menu.Item color="red" onClick={() => setLeaving(true)}>
              {say("delete")}
            </Menu.Item>
          </ActionsMenu>
        </span>
      )}
      {last_error && !test.data && (
        <div className={style.full}>
          <Note tone="bad">{last_error}</Note>
        </div>
      )}
      {test.data && (
        <div className={style.full} role="status">
          <Note tone={test.data.success ? "ok" : "bad"}>{test.data.message}</Note>
        </div>
      )}
      {error && (
        <div className={`note bad ${style.full}`} role="alert">
          {asApiError(error).message}
        </div>
      )}
      {isLeaving && <DeleteReceiverDialog receiver={receiver} onClose={() => setLeaving(false)} />}
    </li>
  );
}

function DeleteReceiverDialog({ receiver, onClose }: { receiver: AuditReceiver; onClose: () => void }) {
  const remove = useReceiverChange(deleteReceiver);
  return (
    <ConfirmDialog
      title={say("deleteTitle", { name: receiver.name })}
      action={say("delete")}
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(receiver.id, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{say("deleteText")}</p>
    </ConfirmDialog>
  );
}
