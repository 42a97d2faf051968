import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import type { JobFilters } from "./filters";
import { JOB_TONES } from "./job_words";
import style from "./operate.module.css";
import type { QueuedJob } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

type JobTableProps = { jobs: QueuedJob[]; filters: JobFilters; nameOf: (tenantId: string | null) => string };

export function QueuedJobTable({ jobs, filters, nameOf }: JobTableProps) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list}>
      <table className="table">
        <caption className="sr">{say("jobs")}</caption>
        <thead>
          <tr>
            <th>{say("kind")}</th>
            <th>{say("state")}</th>
            <th className="wide">{say("queue")}</th>
            <th className="wide">{say("organization")}</th>
            <th className="wide num">{say("attempts")}</th>
            <th className="wide num">{say("age")}</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id} className={job.id === filters.id ? "on" : ""}>
              <td className={style.lead}>
                <Link
                  data-row
                  className="stack"
                  to="/operate/jobs"
                  search={{ ...filters, id: job.id }}
                  aria-current={job.id === filters.id ? "true" : undefined}
                >
                  <span className="mono cut">{job.kind}</span>
                  {job.last_error && <span className="t-12 t-3 cut">{job.last_error}</span>}
                </Link>
              </td>
              <td>
                <StatusLabel tone={JOB_TONES[job.status]}>{say(`status_${job.status}`)}</StatusLabel>
              </td>
              <td className="wide mono t-2">{job.queue}</td>
              <td className="wide cut">{nameOf(job.tenant_id)}</td>
              <td className="wide num">{job.attempts}</td>
              <td className="wide num t-2" title={formatExactTime(job.created_at)}>
                {formatTimeSince(job.created_at)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
