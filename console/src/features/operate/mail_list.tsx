import Mail from "icon:mail";
import { Button } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { formatExactTime, formatTimeLeft, formatTimeSince } from "../../shared/time";
import { MAIL_TONES } from "./job_words";
import style from "./operate.module.css";
import { useJobRetry, useOrganizationNames, type WaitingMail } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

/** Mails that are not sent yet, by recipient and subject: their texts hold links that sign people in. */
export function WaitingMailList({ mails }: { mails: WaitingMail[] | undefined }) {
  const nameOf = useOrganizationNames();
  if (!mails) return null;
  if (!mails.length) return <p className={`card t-13 t-3 ${style.quiet}`}>{say("noMailWaits")}</p>;
  return (
    <ul className="card">
      {mails.map((mail) => (
        <MailRow key={mail.id} mail={mail} organization={nameOf(mail.tenant_id)} />
      ))}
    </ul>
  );
}

/** What happens to a mail next, in words. */
function describeMail({ status, attempts, next_attempt_at }: WaitingMail): string {
  if (!status) return say("mailLost");
  if (status === "failed") return say("mailFailed", { count: attempts });
  if (status === "running") return say("mailRunning");
  return attempts && next_attempt_at ? say("mailAgain", { left: formatTimeLeft(next_attempt_at) }) : say("mailWaiting");
}

function MailRow({ mail, organization }: { mail: WaitingMail; organization: string }) {
  const retry = useJobRetry();
  const { subject, to, status, last_error, created_at, job_id } = mail;
  return (
    <li className={style.mail}>
      <span className="kind k-turn">
        <Mail size={15} />
      </span>
      <span className="stack g2">
        <span className="t-13 t-500 cut">{subject ?? say("sealedMail")}</span>
        <span className="t-12 t-3 cut" title={formatExactTime(created_at)}>
          {[to, organization, formatTimeSince(created_at)].filter(Boolean).join(" · ")}
        </span>
        <StatusLabel tone={status ? MAIL_TONES[status] : "bad"}>{describeMail(mail)}</StatusLabel>
        {last_error && <span className={`t-12 ${style.grave} ${style.tileNote}`}>{last_error}</span>}
        {retry.error && (
          <span className={`t-12 ${style.grave}`} role="alert">
            {asApiError(retry.error).message}
          </span>
        )}
      </span>
      {status === "failed" && job_id && (
        <Button size="compact-xs" variant="default" loading={retry.isPending} onClick={() => retry.mutate(job_id)}>
          {say("sendAgain")}
        </Button>
      )}
    </li>
  );
}
