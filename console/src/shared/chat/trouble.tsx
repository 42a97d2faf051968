import TriangleAlert from "icon:triangle-alert";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { locale } from "../i18n/language";
import { words } from "../i18n/words";
import { sentenceOf } from "../refusals/refusals";
import { money } from "../time";
import { type Attached, refusalOf } from "./attachments";
import type { TurnError } from "./chat";
import en from "./words.en.json";

const say = words(en, "shared/chat");
const CODES = en as Record<string, string>;
const known = (code: string) => (code in CODES ? say(code as keyof typeof en) : undefined);
const MODEL_CODES = ["model_not_configured", "model_error", "model_timeout"];

export const Notice = ({ tone, children }: { tone: "warn" | "bad"; children: ReactNode }) => (
  <div className={`note ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <TriangleAlert size={15} />
    <span>{children}</span>
  </div>
);

/** A warning of a reply in words; a code that is newer than this console stands for itself. */
export function warningWords(code: string): string {
  const [name = "", ...rest] = code.split(":");
  const field = rest.join(":");
  if (name === "attachment_truncated") return say("attachment_truncated", { name: field });
  return field ? say("ignored_field", { field }) : (known(name) ?? code);
}

function budgetWords({ message, details }: TurnError): string {
  const scope = (details?.scope as { type?: string } | undefined)?.type ?? "";
  const usd = details?.limit_usd;
  const tokens = details?.limit_tokens;
  const limit =
    typeof usd === "number" ? money(usd) : typeof tokens === "number" ? `${tokens.toLocaleString(locale)} tokens` : "";
  const whose = known(`budget_${scope}`);
  return whose && limit ? say("budgetSpent", { whose, limit }) : message || say("budget_exceeded");
}

/** Which files of the question the server refused, by their names. */
const refusedFiles = ({ details }: TurnError, files: Attached[]) =>
  files
    .map(({ filename }, place) => ({ name: filename, problem: refusalOf(details, place) ?? "" }))
    .filter(({ problem }) => problem)
    .map((refused) => say("fileRefused", refused))
    .join(" ");

/** Why a reply failed, and where it can be mended. */
export function ReplyError({ error, files = [] }: { error: TurnError; files?: Attached[] }) {
  if (error.code === "budget_exceeded") return <Notice tone="bad">{budgetWords(error)}</Notice>;
  const text =
    refusedFiles(error, files) ||
    known(error.code) ||
    sentenceOf(error.code, error.message, error.details) ||
    say("failed");
  return (
    <Notice tone="bad">
      {text}
      {MODEL_CODES.includes(error.code) && (
        <>
          {error.message && error.message !== text && ` ${error.message}`}{" "}
          <Link className="inline-link" to="/models">
            {say("openModels")}
          </Link>
        </>
      )}
    </Notice>
  );
}
