import ChevronDown from "icon:chevron-down";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { decidableQuery } from "../approvals/decidable";
import { createTranslator } from "../i18n/words";
import { JsonView } from "../marks/json_view";
import { KindIcon } from "../marks/kind_icon";
import { formatDuration } from "../time";
import { AttachedFiles } from "./attached_files";
import style from "./call.module.css";
import type { ToolCall } from "./chat";
import chat from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const DELEGATION = "delegate_to_";
const STATES: Record<string, string> = {
  running: say("working"),
  awaiting_approval: say("awaiting_approval"),
  failed: say("failed_call"),
  timeout: say("timeout"),
  denied: say("denied"),
};
const isFinishedCall = ({ status }: ToolCall) => status === "completed" || status === "success";

function describeOutcome(call: ToolCall): string {
  if (isFinishedCall(call)) return call.tookMs === undefined ? say("completed") : formatDuration(call.tookMs);
  // Nobody has rejected what nobody has decided.
  if (call.status === "timeout" && call.approvalId) return say("expired");
  return STATES[call.status] ?? call.status;
}

/** The input in one line: the task of a sub-agent is a sentence, everything else is JSON. */
function describeInput({ tool, input }: ToolCall): string {
  const task = (input as { task?: unknown } | null)?.task;
  return tool.startsWith(DELEGATION) && typeof task === "string" ? task : JSON.stringify(input ?? {});
}

/** One use of a tool: closed its name, input and time; open what was asked and what came back. */
export function ToolCallView({ call }: { call: ToolCall }) {
  const [isOpen, setOpen] = useState(false);
  const isDelegation = call.tool.startsWith(DELEGATION);
  const isWaiting = call.status === "awaiting_approval";
  return (
    <div className={style.call}>
      <button type="button" className={style.callHead} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <KindIcon kind={isWaiting ? "wait" : isDelegation ? "sub" : "tool"} small />
        <span className="t-500 cut">{isDelegation ? call.tool.slice(DELEGATION.length) : call.tool}</span>
        <span className={`t-3 cut grow t-12 ${isDelegation ? "" : "mono"}`}>{describeInput(call)}</span>
        <span
          className={`t-12 num fix ${isFinishedCall(call) || call.status === "running" || isWaiting ? "t-3" : style.failed}`}
        >
          {describeOutcome(call)}
        </span>
        <ChevronDown size={14} className={isOpen ? chat.up : ""} />
      </button>
      {isOpen && (
        <div className={style.callBody}>
          <div className="stack g4">
            <span className="t-12 t-3">{say("asked")}</span>
            <JsonView value={call.input ?? null} max={220} />
          </div>
          {call.output !== undefined && (
            <div className="stack g4">
              <span className="t-12 t-3">{say("got")}</span>
              <JsonView value={call.output} max={220} />
              {call.images && call.images.length > 0 && <AttachedFiles files={call.images} />}
            </div>
          )}
        </div>
      )}
    </div>
  );
}

/** Says that a person decides first, and leads there; the reply goes on by itself afterwards. */
export function WaitingApprovals({ calls }: { calls: ToolCall[] }) {
  const open = calls.filter((call) => call.status === "awaiting_approval" && call.approvalId);
  const may = usePermissionCheck();
  const { data: mine } = useQuery({ ...decidableQuery, enabled: may("approvals:decide") });
  const approvalLinkText = (call: ToolCall) => {
    if (!mine?.includes(call.approvalId ?? "")) return say("look");
    return open.length > 1 ? say("decideOn", { tool: call.tool }) : say("decide");
  };
  return (
    <div className={style.waiting} role="status">
      <KindIcon kind="wait" small />
      <span className="stack grow">
        <span className="t-500">{say("waitsForPerson")}</span>
        <span className="t-12 t-3">{say("goesOn")}</span>
      </span>
      {may("approvals:read") &&
        open.map((call) => (
          <Link key={call.approvalId} className="inline-link t-13" to="/approvals" search={{ id: call.approvalId }}>
            {approvalLinkText(call)}
          </Link>
        ))}
    </div>
  );
}
