import Check from "icon:check";
import { Button, Menu, Switch } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel, type Tone } from "../../shared/marks/status";
import { Note } from "../../shared/patterns/note";
import { formatDecimal, formatExactTime, formatTimeSince } from "../../shared/time";
import { ExporterForm } from "./exporter_form";
import style from "./exporters.module.css";
import { deleteExporter, type Exporter, testExporter, updateExporter, useExporterChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/exporters");
const TONES: Record<Exporter["status"], Tone> = { disabled: "idle", failing: "bad", healthy: "ok", waiting: "idle" };

type Props = { of: Exporter; mayWrite: boolean };

/** One receiver: whether it gets the traces, what is wrong with it, and a test that shows at once. */
export function ExporterRow({ of: exporter, mayWrite }: Props) {
  const [dialog, setDialog] = useState<"change" | "delete">();
  const test = useExporterChange(testExporter);
  const update = useExporterChange(updateExporter);
  const remove = useExporterChange(deleteExporter);
  const closeDialog = () => setDialog(undefined);
  const refusal = test.error ?? update.error;
  return (
    <li data-off={!exporter.enabled || undefined}>
      <div className={`row g12 wrap ${style.head}`}>
        <div className="grow stack">
          <span className="row g8 wrap">
            <b className={`t-500 ${style.name}`}>{exporter.name}</b>
            <StatusLabel tone={TONES[exporter.status]}>{say(`status_${exporter.status}`)}</StatusLabel>
          </span>
          <span className={`mono t-12 t-2 ${style.address}`}>{exporter.endpoint}</span>
          <ExporterFigures of={exporter} />
        </div>
        {mayWrite && (
          <span className="row g8 fix">
            <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate(exporter.id)}>
              {say("test")}
            </Button>
            <Switch
              aria-label={say("switch", { name: exporter.name })}
              checked={exporter.enabled}
              disabled={update.isPending}
              onChange={(event) => update.mutate({ id: exporter.id, enabled: event.currentTarget.checked })}
            />
            <ActionsMenu label={say("actions", { name: exporter.name })}>
              <Menu.Item onClick={() => setDialog("change")}>{say("change")}</Menu.Item>
              <Menu.Item color="red" onClick={() => setDialog("delete")}>
                {say("delete")}
              </Menu.Item>
            </ActionsMenu>
          </span>
        )}
      </div>
      {exporter.last_error && <Note tone="bad">{say("fails", { problem: exporter.last_error })}</Note>}
      {refusal && <Note tone="bad">{asApiError(refusal).message}</Note>}
      {test.data && !refusal && (
        <div role="status">
          <Note tone={test.data.success ? "ok" : "bad"} icon={test.data.success ? <Check size={15} /> : undefined}>
            {test.data.success ? say("testPassed") : say("testFailed", { problem: test.data.message })}
          </Note>
        </div>
      )}
      {dialog === "change" && <ExporterForm of={exporter} onClose={closeDialog} />}
      {dialog === "delete" && (
        <ConfirmDialog
          title={say("deleteTitle", { name: exporter.name })}
          action={say("delete")}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(exporter.id, { onSuccess: closeDialog })}
          onClose={closeDialog}
        >
          <p>{say("deleteText")}</p>
        </ConfirmDialog>
      )}
    </li>
  );
}

/** What it got, and how much of what there was. */
const ExporterFigures = ({ of: exporter }: { of: Exporter }) => (
  <span className={style.line}>
    {exporter.last_sent_at ? (
      <span title={formatExactTime(exporter.last_sent_at)}>
        {say("lastSent", { when: formatTimeSince(exporter.last_sent_at) })}
      </span>
    ) : (
      <span>{say("neverSent")}</span>
    )}
    {exporter.sent_spans > 0 && <span>{say("sentSpans", { count: exporter.sent_spans })}</span>}
    {exporter.dropped_spans > 0 && (
      <span className={style.problem}>{say("droppedSpans", { count: exporter.dropped_spans })}</span>
    )}
    {exporter.sample < 1 && <span>{say("share", { percent: formatDecimal(exporter.sample * 100, 0, 2) })}</span>}
    {exporter.include_content && <span>{say("withContent")}</span>}
    {Object.keys(exporter.headers).length > 0 && (
      <span className="mono">{Object.keys(exporter.headers).join(", ")}</span>
    )}
  </span>
);
