import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { asApiError } from "../../api/errors";
import { guideAddress } from "../../shared/guides";
import { words } from "../../shared/i18n/words";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/home");
/** The guide to what has no screen yet, and the part of it. */
const GUIDES: Partial<Record<Need["kind"], [string, string?]>> = {
  subscription: ["events"],
  audit_stream: ["audit", "send-it-elsewhere"],
  trace_exporter: ["tracing", "send-traces-elsewhere"],
  vault: ["operating", "the-master-key"],
  worker: ["operating"],
  account: ["accounts", "approve-accounts"],
};

/** The account stays and can be reactivated, so one click is enough. */
function Deactivate({ need, title }: { need: Need; title: string }) {
  const client = useQueryClient();
  const deactivate = useMutation({
    mutationFn: () => data(api.POST("/users/{user_id}/deactivate", { params: { path: { user_id: need.object.id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["home"] }),
  });
  return (
    <>
      {deactivate.error && (
        <span className="t-12" role="alert">
          {asApiError(deactivate.error).message}
        </span>
      )}
      <Button
        size="xs"
        variant="default"
        loading={deactivate.isPending}
        aria-label={`${say("deactivate")}: ${title}`}
        onClick={() => deactivate.mutate()}
      >
        {say("deactivate")}
      </Button>
    </>
  );
}

/** What helps where no screen does: done here, or described in a guide. */
export function NeedRemedy({ need, title }: { need: Need; title: string }) {
  const guide = GUIDES[need.kind];
  if (need.action === "deactivate") return <Deactivate need={need} title={title} />;
  if (!guide) return null;
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`${say("howTo")}: ${title}`}
      renderRoot={(props) => <a {...props} href={guideAddress(...guide)} target="_blank" rel="noreferrer" />}
    >
      {say("howTo")}
    </Button>
  );
}
