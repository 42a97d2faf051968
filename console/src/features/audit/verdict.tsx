import ShieldAlert from "icon:shield-alert";
import ShieldCheck from "icon:shield-check";
import X from "icon:x";
import { ActionIcon } from "@mantine/core";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { Note } from "../../shared/patterns/note";
import style from "./audit.module.css";
import type { AuditVerdict } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

/** Whether somebody changed the log, in words, with the end of the chain to be kept elsewhere. */
export const ChainVerdictNote = ({ verdict, onClose }: { verdict: AuditVerdict; onClose: () => void }) => (
  <div className={style.verdict} role="status">
    <Note
      tone={verdict.broken ? "bad" : "ok"}
      icon={verdict.broken ? <ShieldAlert size={15} /> : <ShieldCheck size={15} />}
      action={
        <ActionIcon size={24} aria-label={general("close")} onClick={onClose}>
          <X size={14} />
        </ActionIcon>
      }
    >
      {verdict.broken ? (
        <>
          <b className="t-500">{say("broken", { number: verdict.broken.sequence })}</b> {say("brokenText")}{" "}
          <span className="mono t-12">{verdict.broken.reason}</span>
        </>
      ) : (
        <>
          <b className="t-500">{say("intact", { count: verdict.checked })}</b> {say("intactText")}
          <span className={`row g6 wrap ${style.hash}`}>
            {say("headOf", { number: verdict.head.sequence })} <CopyableId>{verdict.head.hash}</CopyableId>
          </span>
        </>
      )}
    </Note>
  </div>
);
