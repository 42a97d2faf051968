import TriangleAlert from "icon:triangle-alert";
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { createTranslator } from "../i18n/words";
import { translateRefusal } from "../refusals/refusals";
import { translateSentence } from "../sentences/sentences";
import { formatMoney } from "../time";
import { type Attached, findFileRefusal } from "./attachments";
import type { Turn, TurnError } from "./chat";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
const CODES = en as Record<string, string>;
const describeErrorCode = (code: string) => (code in CODES ? say(code as keyof typeof en) : undefined);
const BUDGET = "budget_exceeded";
const MODEL_CODES = ["model_not_configured", "model_error", "model_timeout"];

export const ChatNotice = ({ tone, children }: { tone: "warn" | "bad"; children: ReactNode }) => (
  <div className={`note ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <TriangleAlert size={15} />
    <span>{children}</span>
  </div>
);

/** A warning of a reply in words; a code that is newer than this console stands for itself. */
export function describeWarning(code: string): string {
  const [name = "", ...rest] = code.split(":");
  const field = rest.join(":");
  if (name === "attachment_truncated") return say("attachment_truncated", { name: field });
  return field ? say("ignored_field", { field }) : (describeErrorCode(name) ?? code);
}

function describeBudgetError({ message, details }: TurnError): string {
  // In these cases something is left of the budget.
  if (details?.reason === "unaffordable") return say("budgetUnaffordable");
  if (details?.reason === "reserved") return say("budgetReserved");
  const scope = (details?.scope as { type?: string } | undefined)?.type ?? "";
  const usd = details?.limit_usd;
  const tokens = details?.limit_tokens;
  const limit =
    typeof usd === "number" ? formatMoney(usd) : typeof tokens === "number" ? say("tokens", { count: tokens }) : "";
  const whose = describeErrorCode(`budget_${scope}`);
  return whose && limit ? say("budgetSpent", { whose, limit }) : message || say("budget_exceeded");
}

/** Which files of the question the server refused, by their names. */
const listRefusedFiles = ({ details }: TurnError, files: Attached[]) =>
  files
    .map(({ filename }, place) => ({ name: filename, problem: findFileRefusal(details, place) ?? "" }))
    .filter(({ problem }) => problem)
    .map((refused) => say("fileRefused", refused))
    .join(" ");

/** What a person can do about it is elsewhere: the model's key, or the budget. */
function ErrorRemedy({ error }: { error: TurnError }) {
  const scope = error.details?.scope as { type?: string; id?: string | null } | undefined;
  if (MODEL_CODES.includes(error.code))
    return (
      <Link className="inline-link" to="/settings/models">
        {say("openModels")}
      </Link>
    );
  if (error.code === BUDGET && scope?.type === "agent" && scope.id)
    return (
      <Link className="inline-link" to="/agents/$agentId/statistics" params={{ agentId: scope.id }}>
        {say("openBudget")}
      </Link>
    );
  return null;
}

/** Why there is no answer; of one that broke off, that it did, and then why. */
export function describeTurnError(error: TurnError, { text, attachments = [] }: Turn): string {
  if (error.code === BUDGET) return describeBudgetError(error);
  const own = describeErrorCode(text ? `cut_${error.code}` : error.code);
  const reason =
    listRefusedFiles(error, attachments) ||
    own ||
    translateRefusal(error.code, error.message, error.details) ||
    say("failed");
  const isTold = !MODEL_CODES.includes(error.code) || !error.message || error.message === reason;
  return joinSentences(text ? say("cutOff") : "", reason, isTold ? "" : translateSentence(error.message));
}

/** Texts one after the other, each with an end: what a provider says may have none. */
const joinSentences = (...texts: string[]) =>
  texts
    .map((text) => text.trim().replace(/[^.!?…:]$/, "$&."))
    .filter(Boolean)
    .join(" ");

type ErrorProps = { turn: Turn; error: TurnError; isPutBack?: boolean; onRetry?: () => void };

/** Why a reply failed, where it can be mended, and the way to ask once more. */
export function ReplyError({ turn, error, isPutBack, onRetry }: ErrorProps) {
  return (
    <div className="note bad" role="alert">
      <TriangleAlert size={15} />
      <span className="grow">
        {joinSentences(describeTurnError(error, turn), onRetry && isPutBack ? say("putBack") : "")}{" "}
        <ErrorRemedy error={error} />
      </span>
      {onRetry && (
        <Button size="xs" variant="default" onClick={onRetry}>
          {say("tryAgain")}
        </Button>
      )}
    </div>
  );
}
