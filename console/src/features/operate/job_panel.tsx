import RotateCw from "icon:rotate-cw";
import { Button } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { StatusLabel } from "../../shared/marks/status";
import { Note } from "../../shared/patterns/note";
import { FactList } from "../../shared/patterns/sheet";
import { SidePanel } from "../../shared/patterns/side_panel";
import { formatExactTime } from "../../shared/time";
import { showToast } from "../../shared/toast/toasts";
import { JOB_TONES } from "./job_words";
import style from "./operate.module.css";
import { type QueuedJob, useJobRetry } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

type JobPanelProps = { job: QueuedJob; organization: string; onClose: () => void };

/** One job: why it failed, whose it is, and another try with all its attempts. */
export function QueuedJobPanel({ job, organization, onClose }: JobPanelProps) {
  const retry = useJobRetry(({ kind }) => {
    showToast(say("retried", { kind }));
    onClose();
  });
  return (
    <SidePanel
      label={job.kind}
      title={<span className="mono">{job.kind}</span>}
      subtitle={organization}
      foot={
        job.status === "failed" && (
          <>
            <Button
              size="xs"
              leftSection={<RotateCw size={13} />}
              loading={retry.isPending}
              onClick={() => retry.mutate(job.id)}
            >
              {say("runAgain")}
            </Button>
            {retry.error && (
              <span className={`t-12 ${style.grave}`} role="alert">
                {asApiError(retry.error).message}
              </span>
            )}
          </>
        )
      }
      onClose={onClose}
    >
      {job.last_error && (
        <Note tone={job.status === "failed" ? "bad" : "warn"}>
          <span className={style.tileNote}>{job.last_error}</span>
        </Note>
      )}
      <FactList
        facts={[
          [
            say("state"),
            <StatusLabel key="state" tone={JOB_TONES[job.status]}>
              {say(`status_${job.status}`)}
            </StatusLabel>,
          ],
          [
            say("queue"),
            <span key="queue" className="mono">
              {job.queue}
            </span>,
          ],
          [say("attempts"), String(job.attempts)],
          [say("enqueued"), formatExactTime(job.created_at)],
          [say(job.status === "waiting" ? "due" : "wasDue"), formatExactTime(job.due_at)],
          [say("request"), <CopyableId key="request">{job.correlation_id}</CopyableId>],
        ]}
      />
      <p className="t-12 t-3">{say("payloadHint")}</p>
      <CopyableId>{job.id}</CopyableId>
    </SidePanel>
  );
}
