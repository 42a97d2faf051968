import { Switch } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import { updateTool, useToolChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
type Props = { tool: { id: string; name: string; is_enabled: boolean } };

/** Switches a tool on or off at once. Those who may not change it see in words how it stands. */
export function ToolSwitch({ tool }: Props) {
  const mayWrite = usePermissionCheck()("tools:write");
  const change = useToolChange(updateTool);
  if (!mayWrite) return <span className="t-13 t-2">{say(tool.is_enabled ? "on" : "off")}</span>;
  return (
    <Switch
      size="xs"
      aria-label={say("isOn", { name: tool.name })}
      checked={change.isPending ? change.variables.is_enabled : tool.is_enabled}
      onChange={(event) =>
        change.mutate(
          { id: tool.id, is_enabled: event.currentTarget.checked },
          { onError: (error) => showToast(asApiError(error).message) },
        )
      }
    />
  );
}
