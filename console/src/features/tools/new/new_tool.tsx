import { useNavigate } from "@tanstack/react-router";
import { PageBar } from "../../../shared/frame/bar";
import { createTranslator } from "../../../shared/i18n/words";
import { Sheet } from "../../../shared/patterns/sheet";
import { PermissionGate } from "../../../shared/states/permission_gate";
import en from "../words.en.json";
import { NewTool } from "./ways";

const say = createTranslator(en, "features/tools");

/** A new tool, in one of five ways. */
export default function NewToolPage() {
  const navigate = useNavigate();
  return (
    <>
      <PageBar trail={[{ label: say("title"), to: "/tools" }]} title={say("add")} isThere={false} />
      <PermissionGate permission="tools:write">
        <Sheet width={980}>
          <NewTool
            onMade={({ id }) => void navigate({ to: "/tools/$toolId", params: { toolId: id }, replace: true })}
            onCancel={() => void navigate({ to: "/tools" })}
          />
        </Sheet>
      </PermissionGate>
    </>
  );
}
