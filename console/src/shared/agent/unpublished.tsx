import Info from "icon:info";
import { Button, Tooltip } from "@mantine/core";
import { useState } from "react";
import type { components } from "../../api/schema";
import { createTranslator } from "../i18n/words";
import { useMissingAccessHint } from "../states/access";
import { PublishButton } from "./publish";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");
type Agent = Pick<components["schemas"]["AgentOut"], "id" | "status" | "version">;

/** Says of an agent that is not published that it answers all the same, and with what; offers to publish it. */
export function UnpublishedNote({ agent }: { agent: Agent }) {
  const [isOpen, setOpen] = useState(false);
  const needs = useMissingAccessHint("agents:write");
  const closeDialog = () => setOpen(false);
  if (agent.status !== "draft") return null;
  return (
    <div className="note warn">
      <Info size={15} />
      <span className="grow">{say("unpublished", { version: `v${agent.version}` })}</span>
      <Tooltip label={needs} disabled={!needs}>
        <Button
          size="xs"
          variant="default"
          data-disabled={needs ? true : undefined}
          aria-disabled={Boolean(needs)}
          aria-description={needs || undefined}
          onClick={() => !needs && setOpen(true)}
        >
          {say("publish")}
        </Button>
      </Tooltip>
      {isOpen && <PublishButton agentId={agent.id} onClose={closeDialog} onPublished={closeDialog} />}
    </div>
  );
}
