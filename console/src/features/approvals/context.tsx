import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { type Approval, approvalQuery } from "../../shared/approvals/queries";
import { useRequesterActions } from "../../shared/approvals/requester_actions";
import { ConfirmDialog } from "../../shared/confirm";
import { createTranslator } from "../../shared/i18n/words";
import style from "./approvals.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/approvals");

/** The end of the conversation, for those who may read it; else the message that the request carries. */
export function ApprovalReason({ approval }: { approval: Approval }) {
  const may = usePermissionCheck();
  const conversationId = may("conversations:read") ? approval.source.conversation_id : null;
  const { data: whole } = useQuery({ ...approvalQuery(approval.id), enabled: Boolean(conversationId) });
  const message = (approval.payload as { message?: unknown } | null)?.message;
  const said = (whole?.context ?? []).filter((one) => one.content.trim());
  if (!said.length && (typeof message !== "string" || !message)) return null;
  return (
    <section className="stack g8" aria-label={say("why")}>
      <h3 className="t-sec">{say("why")}</h3>
      <div className={style.why}>
        {said.length ? (
          said.map((one) => (
            <div key={`${one.created_at}${one.role}`} className="stack">
              <span className={`t-12 t-3 ${one.role === "user" ? style.asker : ""}`}>
                {say(one.role === "user" ? "saidPerson" : "saidAgent")}
              </span>
              <p className={one.role === "user" ? style.said : style.told}>{one.content}</p>
            </div>
          ))
        ) : (
          <p className={style.said}>{String(message)}</p>
        )}
        {conversationId && whole?.context && (
          <span>
            <Link className="inline-link t-13" to="/conversations/$conversationId" params={{ conversationId }}>
              {say("conversation")}
            </Link>
          </span>
        )}
      </div>
    </section>
  );
}

/** What the requester and administrators can do with a request that waits: remind and cancel. */
export function RequestedContext({ approval }: { approval: Approval }) {
  const { remind, cancel, mayRemind, mayCancel } = useRequesterActions(approval);
  const [isCancelling, setCancelling] = useState(false);
  if (!(mayCancel || mayRemind)) return null;
  const refusal = remind.error;
  return (
    <section className="stack g8" aria-label={say("requested")}>
      <h3 className="t-sec">{say("requested")}</h3>
      <div role="status">{refusal ? asApiError(refusal).message : remind.isSuccess ? say("reminded") : undefined}</div>
      <div className="row g8 wrap">
        {mayRemind && (
          <Button size="xs" variant="default" loading={remind.isPending} onClick={() => remind.mutate()}>
            {say("remind")}
          </Button>
        )}
        {mayCancel && (
          <Button size="xs" variant="default" onClick={() => setCancelling(true)}>
            {say("cancel")}
          </Button>
        )}
      </div>
      {isCancelling && (
        <ConfirmDialog
          title={say("cancelTitle")}
          action={say("cancel")}
          error={cancel.error}
          isBusy={cancel.isPending}
          onConfirm={() => cancel.mutate(undefined, { onSuccess: () => setCancelling(false) })}
          onClose={() => setCancelling(false)}
        >
          <p>{say("cancelText")}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
