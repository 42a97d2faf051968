import Info from "icon:info";
import { Button, Tooltip } from "@mantine/core";
import { useState } from "react";
import type { components } from "../../api/schema";
import { words } from "../i18n/words";
import { useNeeds } from "../states/access";
import { Publish } from "./publish";
import en from "./words.en.json";

const say = words(en, "shared/agent");
type Agent = Pick<components["schemas"]["AgentOut"], "id" | "status" | "version">;

/** Says of an agent that is not published that it answers all the same, and with what; offers to publish it. */
export function Unpublished({ agent }: { agent: Agent }) {
  const [isOpen, setOpen] = useState(false);
  const needs = useNeeds("agents:write");
  const close = () => setOpen(false);
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
      {isOpen && <Publish agentId={agent.id} onClose={close} onPublished={close} />}
    </div>
  );
}
