import { Button, Modal, NumberInput, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { useMissingAccessHint } from "../../shared/states/access";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { useFieldProblems } from "../../shared/use_fields";
import { type LogSettings, logSettingsQuery, useLogSettings } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");
const KEPT = ["log_messages", "log_tool_calls", "log_token_usage"] as const;
const MAX_DAYS = 3650;
type Props = { agentId: string; onClose: () => void };

/** What the log of an agent keeps, and for how long. */
export function LogSettingsDialog({ agentId, onClose }: Props) {
  const { data, error, refetch } = useQuery(logSettingsQuery(agentId));
  return (
    <Modal opened onClose={onClose} title={say("logSettings")}>
      {error && !data ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <LogSettingsForm agentId={agentId} stored={data} onClose={onClose} />
      ) : (
        <RowSkeletons rows={4} columns={[40, 200]} />
      )}
    </Modal>
  );
}

function LogSettingsForm({ agentId, stored, onClose }: Props & { stored: LogSettings }) {
  const canWrite = usePermissionCheck()("agents:write");
  const needs = useMissingAccessHint("agents:write");
  const [settings, setSettings] = useState(stored);
  const save = useLogSettings(agentId);
  const { form, rest, problemOf } = useFieldProblems(save.error, ["retention_days"]);
  const changeSettings = (part: Partial<LogSettings>) => setSettings({ ...settings, ...part });
  const isChanged = JSON.stringify(settings) !== JSON.stringify(stored);
  return (
    <form
      ref={form}
      className="stack g16"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(settings, { onSuccess: onClose });
      }}
    >
      <ProblemNote>{rest}</ProblemNote>
      {!canWrite && <div className="note">{needs}</div>}
      {KEPT.map((name) => (
        <Switch
          key={name}
          label={say(name)}
          description={say(`${name}_hint`)}
          disabled={!canWrite}
          checked={settings[name]}
          onChange={(event) => changeSettings({ [name]: event.currentTarget.checked })}
        />
      ))}
      <NumberInput
        label={say("retention")}
        description={say("retentionHint")}
        error={problemOf("retention_days")}
        w={220}
        min={0}
        max={MAX_DAYS}
        allowDecimal={false}
        clampBehavior="strict"
        disabled={!canWrite}
        value={settings.retention_days}
        onChange={(value) => typeof value === "number" && changeSettings({ retention_days: value })}
      />
      {canWrite && (
        <div className="row g8">
          <Button type="submit" disabled={!isChanged} loading={save.isPending}>
            {say("saveSettings")}
          </Button>
          <Button variant="default" onClick={onClose}>
            {say("cancel")}
          </Button>
          <span className="t-12 t-3 grow">{say("newVersion")}</span>
        </div>
      )}
    </form>
  );
}
