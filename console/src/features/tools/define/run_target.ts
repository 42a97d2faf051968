import { executeTool, type JsonValues, type Tool, type ToolTrial, tryTool } from "../queries";
import type { Definition } from "./definition";

/** What the run panel runs: a stored tool, what is entered, or a tool that is not stored at all. */
export type RunTarget = {
  described: Pick<Tool, "tool_type" | "config" | "input_schema">;
  /** Missing while the tool is new. */
  tool?: Tool;
  /** What is entered and not saved; missing where the saved tool runs. */
  trial?: ToolTrial;
  /** Changes stand in the fields that this run leaves out. */
  leavesOut: boolean;
};

/**
 * What is entered as a trial of it. Secrets that the tool keeps for itself are not read by anybody, so without its
 * credential such a tool can only run as it is saved.
 */
export function trialOf(entered: Definition, storedCredentialId?: string | null): ToolTrial | undefined {
  const kept = storedCredentialId ? { credential_id: storedCredentialId } : undefined;
  const authConfig = entered.authConfig ?? kept;
  if (entered.authType !== "none" && !authConfig) return undefined;
  return {
    tool_type: entered.type,
    config: entered.config,
    auth_type: entered.authType,
    ...(entered.authType !== "none" && authConfig ? { auth_config: authConfig } : {}),
    ...(entered.inputSchema ? { input_schema: entered.inputSchema as JsonValues } : {}),
  };
}

/** A stored tool with what is entered: unsaved changes run as a trial if this person may and nothing is missing. */
export function runTargetOf(
  tool: Tool,
  entered: Definition,
  { hasChanges, mayTry }: { hasChanges: boolean; mayTry: boolean },
) {
  const trial = hasChanges && mayTry ? trialOf(entered, tool.credential_id) : undefined;
  const described = trial
    ? { tool_type: entered.type, config: entered.config, input_schema: entered.inputSchema as JsonValues | undefined }
    : tool;
  return { tool, trial, described, leavesOut: hasChanges && !trial } satisfies RunTarget;
}

export const runToolTarget = ({ tool, trial }: RunTarget, input: JsonValues) => {
  if (trial) return tryTool({ ...trial, input });
  if (!tool) throw new TypeError("A tool that is not stored runs as a trial.");
  return executeTool({ id: tool.id, input });
};
