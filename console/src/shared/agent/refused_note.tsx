import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { homeQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { Note } from "../patterns/note";
import { countRefusedQuestions } from "./refused_questions";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");
const STALE_MS = 30_000;

/** Above a list of conversations: what a budget refused is missing in it, and visitors were not told why. */
export function RefusedQuestionsNote({ agentId }: { agentId?: string }) {
  const { data: home } = useQuery({ ...homeQuery, staleTime: STALE_MS });
  const count = countRefusedQuestions(home?.needs ?? [], agentId);
  if (!count) return null;
  return (
    <Note
      tone="warn"
      action={
        <Link className="inline-link" to="/usage/budgets">
          {say("openBudgets")}
        </Link>
      }
    >
      {say("refusedByBudget", { count })}
    </Note>
  );
}
