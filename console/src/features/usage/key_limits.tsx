import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { SheetSection } from "../../shared/patterns/sheet";
import { formatDay } from "../../shared/time";
import type { KeyUsage } from "./queries";
import style from "./usage.module.css";
import { UsedOf } from "./used_of";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

/** What the keys of pages used this month, and their own limits; those are changed where an agent is shared. */
export function KeyLimits({ keys, children }: { keys: KeyUsage[]; children: ReactNode }) {
  return (
    <SheetSection title={say("embedKeys")} note={say("embedKeysNote")}>
      <div className="card">
        {keys.length === 0 ? (
          <p className={style.none}>{say("noKeys")}</p>
        ) : (
          <div className="scroll-x">
            <table className={`table boxed ${style.limits}`}>
              <caption className="sr">{say("embedKeys")}</caption>
              <thead>
                <tr>
                  <th>{say("one_embed_key")}</th>
                  <th className="wide">{say("one_agent")}</th>
                  <th className="num">{say("tokensThisMonth")}</th>
                  <th className="num wide">{say("monthlyLimit")}</th>
                  <th className="num wide">{say("perMinuteLimit")}</th>
                  <th>{say("expires")}</th>
                </tr>
              </thead>
              <tbody>
                {keys.map((key) => (
                  <KeyRow key={key.id} of={key} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {children}
      </div>
    </SheetSection>
  );
}

function KeyRow({ of: key }: { of: KeyUsage }) {
  const mayOpen = usePermissionCheck()("agents:read");
  const limit = key.monthly_token_budget;
  return (
    <tr>
      <td>
        <span className={`stack ${style.name}`}>
          {mayOpen ? (
            <Link className="t-500 cut" to="/agents/$agentId/share" params={{ agentId: key.agent_id }}>
              {key.name}
            </Link>
          ) : (
            <span className="t-500 cut">{key.name}</span>
          )}
          <span className="mono t-12 t-3">{key.key_prefix}…</span>
        </span>
      </td>
      <td className="wide t-2">{key.agent_name}</td>
      <td className="num">
        <UsedOf used={key.tokens_used} limit={limit} />
      </td>
      <td className="num wide">{limit === null ? say("none") : limit.toLocaleString(locale)}</td>
      <td className="num wide">
        {key.rate_limit_per_minute === null ? say("none") : key.rate_limit_per_minute.toLocaleString(locale)}
      </td>
      <td>
        <KeyExpiry at={key.expires_at} />
      </td>
    </tr>
  );
}

function KeyExpiry({ at }: { at: string | null }) {
  if (at === null) return <span className="t-3">{say("never")}</span>;
  if (Date.parse(at) <= Date.now()) return <StatusPill tone="bad">{say("expired")}</StatusPill>;
  return formatDay(at);
}
