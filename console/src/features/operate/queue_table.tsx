import { Link } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { formatDuration } from "../../shared/time";
import { isQueueBehind } from "./checks";
import style from "./operate.module.css";
import type { QueueState } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const KINDS = ["running", "waiting", "failed"] as const;

const totalOf = (queue: QueueState) => KINDS.reduce((sum, kind) => sum + queue[kind], 0);
const isIdle = (queue: QueueState) => totalOf(queue) === 0 && queue.scheduled === 0;

/** What stands in the queues now; those without anything are named below. */
export function QueueTable({ queues }: { queues: QueueState[] }) {
  const busy = queues.filter((queue) => !isIdle(queue));
  const idle = queues.filter(isIdle);
  const largest = Math.max(1, ...busy.map(totalOf));
  return (
    <div className="card">
      {busy.length > 0 && (
        <table className="table boxed">
          <caption className="sr">{say("queues")}</caption>
          <thead>
            <tr>
              <th>{say("queue")}</th>
              <th>{say("now")}</th>
              <th className="num wide">{say("later")}</th>
              <th className="num">{say("oldest")}</th>
            </tr>
          </thead>
          <tbody>
            {busy.map((queue) => (
              <QueueRow key={queue.name} queue={queue} largest={largest} />
            ))}
          </tbody>
        </table>
      )}
      {idle.length > 0 && (
        <p className={`t-12 t-3 ${style.quiet}`}>
          {say("idleQueues", { names: idle.map(({ name }) => name).join(", ") })}
        </p>
      )}
    </div>
  );
}

function QueueRow({ queue, largest }: { queue: QueueState; largest: number }) {
  const { name, waiting, running, failed, scheduled, oldest_waiting_s } = queue;
  return (
    <tr>
      <td>
        <Link className="mono" to="/operate/jobs" search={{ status: "all", queue: name }}>
          {name}
        </Link>
      </td>
      <td>
        <span className="row g8">
          <span className={`wide ${style.bar}`} aria-hidden>
            {KINDS.map((kind) => (
              <i key={kind} data-kind={kind} style={{ width: `${(queue[kind] / largest) * 100}%` }} />
            ))}
          </span>
          <span className="num t-2" aria-hidden>
            {waiting} · {running}
            {failed > 0 && <span className={style.grave}> · {failed}</span>}
          </span>
          <span className="sr">{say("queueCounts", { waiting, running, failed })}</span>
        </span>
      </td>
      <td className="num t-2 wide">{scheduled || "–"}</td>
      <td className={`num ${isQueueBehind(queue) ? style.mild : "t-2"}`}>
        {oldest_waiting_s === null ? "–" : formatDuration(oldest_waiting_s * 1000)}
      </td>
    </tr>
  );
}
