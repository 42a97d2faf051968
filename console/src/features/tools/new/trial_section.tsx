import { usePermissionCheck } from "../../../api/queries";
import type { Definition } from "../define/definition";
import { LaterRunPanel } from "../define/later_run_panel";
import { trialOf } from "../define/run_target";
import type { JsonValues } from "../queries";
import style from "./new_tool.module.css";

/** Runs what is entered before the tool exists; nothing of it is stored. */
export function TrialSection({ entered, isBlocked }: { entered: Definition; isBlocked: boolean }) {
  const mayExecute = usePermissionCheck()("tools:execute");
  const trial = trialOf(entered);
  if (!mayExecute || !trial) return null;
  const described = {
    tool_type: entered.type,
    config: entered.config,
    input_schema: entered.inputSchema as JsonValues | undefined,
  };
  return (
    <div className={style.trial}>
      <LaterRunPanel target={{ described, trial, leavesOut: false }} isBlocked={isBlocked} />
    </div>
  );
}
