import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { api, unwrapData } from "../../api/client";
import { guideAddressOf } from "../../shared/guides";
import { createTranslator } from "../../shared/i18n/words";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");
/** Home opens without a dialog that few ever see. */
const Confirm = lazy(() => import("../../shared/confirm").then((found) => ({ default: found.ConfirmDialog })));
/** The guide to what has no screen yet, and the part of it. */
const GUIDES: Partial<Record<Need["kind"], [string, string?]>> = {
  subscription: ["events"],
  audit_stream: ["audit", "send-it-elsewhere"],
  trace_exporter: ["tracing", "send-traces-elsewhere"],
  vault: ["operating", "the-master-key"],
  worker: ["operating"],
  account: ["accounts", "approve-accounts"],
};

/** Locks a person out: says whom, what stops and how it is taken back. */
function DeactivateButton({ need, title }: { need: Need; title: string }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const email = String(need.params.email ?? need.object.name);
  const deactivate = useMutation({
    mutationFn: () =>
      unwrapData(api.POST("/users/{user_id}/deactivate", { params: { path: { user_id: need.object.id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["home"] }),
  });
  return (
    <>
      <Button size="xs" variant="default" aria-label={`${say("deactivate")}: ${title}`} onClick={() => setAsking(true)}>
        {say("deactivate")}
      </Button>
      {isAsking && (
        <Suspense fallback={null}>
          <Confirm
            title={say("deactivateTitle", { email })}
            action={say("deactivate")}
            error={deactivate.error}
            isBusy={deactivate.isPending}
            onConfirm={() => deactivate.mutate()}
            onClose={() => setAsking(false)}
          >
            <p>{say("deactivateText", { email })}</p>
            <p>{say("deactivateBack")}</p>
          </Confirm>
        </Suspense>
      )}
    </>
  );
}

/** What helps where no screen does: done here, or described in a guide. */
export function NeedRemedy({ need, title }: { need: Need; title: string }) {
  const guide = GUIDES[need.kind];
  if (need.action === "deactivate") return <DeactivateButton need={need} title={title} />;
  if (!guide) return null;
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`${say("howTo")}: ${title}`}
      renderRoot={(props) => <a {...props} href={guideAddressOf(...guide)} target="_blank" rel="noreferrer" />}
    >
      {say("howTo")}
    </Button>
  );
}
