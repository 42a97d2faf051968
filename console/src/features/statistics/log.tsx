import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { AgentPage } from "../../shared/agent/agent_page";
import { RefusedQuestionsNote } from "../../shared/agent/refused_note";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet } from "../../shared/patterns/sheet";
import { CallLog } from "./calls";
import { PeriodSelect } from "./period_select";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");

/** The chat log of an agent: what was asked and answered, turn by turn. */
export default function AgentLogPage() {
  const { agentId } = useParams({ from: "/frame/agents/$agentId/log" });
  const filters = useSearch({ from: "/frame/agents/$agentId/log" });
  const navigate = useNavigate();
  return (
    <AgentPage agentId={agentId} tab="log">
      {() => (
        <Sheet>
          <PeriodSelect
            lead={say("logLead")}
            period={filters.period}
            onChange={(period) =>
              void navigate({
                to: "/agents/$agentId/log",
                params: { agentId },
                search: { ...filters, page: undefined, period },
                replace: true,
              })
            }
          />
          <RefusedQuestionsNote agentId={agentId} />
          <CallLog agentId={agentId} filters={filters} />
        </Sheet>
      )}
    </AgentPage>
  );
}
