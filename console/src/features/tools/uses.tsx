import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { toolStatsQuery } from "./queries";
import { ToolPage } from "./tool_page";
import { TopAgents } from "./top_agents";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const LONGEST_PERIOD = "90d";

/** Which agents have called the tool lately. */
export default function ToolUsesPage() {
  const { toolId } = useParams({ from: "/frame/tools/$toolId/uses" });
  return (
    <ToolPage toolId={toolId} tab="uses">
      {() => <ToolUses toolId={toolId} />}
    </ToolPage>
  );
}

function ToolUses({ toolId }: { toolId: string }) {
  const stats = useQuery(toolStatsQuery(toolId, LONGEST_PERIOD));
  return (
    <Sheet width={760}>
      <p className="t-13 t-2">{say("usesLead")}</p>
      {stats.error && <FailureState error={stats.error} onRetry={() => void stats.refetch()} />}
      {!stats.error && !stats.data && <RowSkeletons rows={3} columns={[22, 160]} />}
      {stats.data && <TopAgents agents={stats.data.top_agents} />}
    </Sheet>
  );
}
