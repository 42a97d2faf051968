import { Button } from "@mantine/core";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { refreshTool, type Tool, useToolChange } from "../queries";
import en from "../words.en.json";

const say = createTranslator(en, "features/tools");

/** Asks the MCP server what it offers now. What differs counts only once somebody agrees to it. */
export function ServerChanges({ tool }: { tool: Tool }) {
  const refresh = useToolChange(refreshTool);
  const { data } = refresh;
  const isHeld = data?.status === "held";
  const diff = isHeld ? data.diff : undefined;
  const changed = [...new Set(diff?.changed.map(({ name }) => name))];
  return (
    <Note
      tone={isHeld ? "warn" : refresh.error ? "bad" : undefined}
      action={
        <Button
          size="compact-xs"
          variant="default"
          loading={refresh.isPending}
          onClick={() => refresh.mutate({ id: tool.id, accept: isHeld })}
        >
          {say(isHeld ? "agreeToChanges" : "askServer")}
        </Button>
      }
    >
      {refresh.error ? asApiError(refresh.error).message : say(data ? `server_${data.status}` : "serverNote")}
      {diff && (
        <ul>
          {diff.added.length > 0 && <li>{say("serverAdded", { names: diff.added.join(", ") })}</li>}
          {diff.removed.length > 0 && <li>{say("serverRemoved", { names: diff.removed.join(", ") })}</li>}
          {changed.length > 0 && <li>{say("serverChanged", { names: changed.join(", ") })}</li>}
        </ul>
      )}
    </Note>
  );
}
