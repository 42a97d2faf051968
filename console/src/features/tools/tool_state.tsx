import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import type { ToolListed } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
type Props = Pick<ToolListed, "is_enabled" | "packages_status" | "last_used_at" | "last_status"> & {
  hasHeldChanges: boolean;
};

/** Whether it can run, what stops it, and when it last did. */
export function ToolState({ is_enabled, packages_status, last_used_at, last_status, hasHeldChanges }: Props) {
  if (packages_status === "failed") return <StatusLabel tone="bad">{say("packagesFailed")}</StatusLabel>;
  if (hasHeldChanges) return <StatusLabel tone="warn">{say("changedAtServer")}</StatusLabel>;
  if (!is_enabled) return <StatusLabel tone="idle">{say("off")}</StatusLabel>;
  if (packages_status === "resolving") return <StatusLabel tone="run">{say("packagesResolving")}</StatusLabel>;
  if (!last_used_at) return <StatusLabel tone="idle">{say("neverUsed")}</StatusLabel>;
  const isFailed = last_status === "failed" || last_status === "timeout";
  return (
    <span title={formatExactTime(last_used_at)}>
      <StatusLabel tone={isFailed ? "bad" : "ok"}>
        {say(isFailed ? "lastFailed" : "lastUsed", { when: formatTimeSince(last_used_at) })}
      </StatusLabel>
    </span>
  );
}
