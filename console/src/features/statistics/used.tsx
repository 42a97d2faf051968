import type { ReactNode } from "react";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon, type KindName } from "../../shared/marks/kind_icon";
import { StatusPill } from "../../shared/marks/status";
import { formatDuration, formatMoney } from "../../shared/time";
import { countUnnamedCalls } from "./figures_of";
import type { Breakdown } from "./queries";
import style from "./statistics.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/statistics");
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const DELEGATION = "delegate_to_";
type ModelUse = Breakdown["models"][number];
type ToolUse = Breakdown["tools"][number];

/** A name with a bar under it: how much of the most used one it was used. */
function UsedName({ kind, share, children }: { kind: KindName; share: number; children: ReactNode }) {
  return (
    <span className="row g8">
      <KindIcon kind={kind} small />
      <span className={`stack grow k-${kind}`}>
        <span className="cut">{children}</span>
        <span className={style.share} style={{ inlineSize: `${Math.max(2, share * 100)}%` }} />
      </span>
    </span>
  );
}

function ModelCost({ usage }: { usage: ModelUse }) {
  if (usage.estimated_cost_usd === null) return <StatusPill tone="warn">{say("noPrice")}</StatusPill>;
  return (
    <>
      {usage.unpriced_calls > 0 && (
        <span title={say("unpricedCalls", { count: usage.unpriced_calls })}>
          <span aria-hidden>≥ </span>
          <span className="sr">{say("atLeast")}</span>
        </span>
      )}
      {formatMoney(usage.estimated_cost_usd)}
    </>
  );
}

function UsedModels({ models }: { models: ModelUse[] }) {
  const most = Math.max(1, ...models.map((one) => one.tokens));
  return (
    <table className={`table boxed ${style.used}`}>
      <caption className="sr">{say("models")}</caption>
      <thead>
        <tr>
          <th>{say("models")}</th>
          <th className="num">{say("calls")}</th>
          <th className="num wide">{say("tokens")}</th>
          <th className="num">{say("cost")}</th>
        </tr>
      </thead>
      <tbody>
        {models.map((one) => (
          <tr key={one.model}>
            <td>
              <UsedName kind="model" share={one.tokens / most}>
                <span className="mono t-12" title={one.model}>
                  {one.model}
                </span>
              </UsedName>
            </td>
            <td className="num t-2">{one.calls.toLocaleString(locale)}</td>
            <td className="num t-2 wide">{compact.format(one.tokens)}</td>
            <td className="num t-2">
              <ModelCost usage={one} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const kindOfTool = ({ tool, tool_id: id }: ToolUse): KindName =>
  id ? "tool" : tool.startsWith(DELEGATION) ? "sub" : "know";

function UsedTools({ tools }: { tools: ToolUse[] }) {
  const most = Math.max(1, ...tools.map((one) => one.calls));
  return (
    <table className={`table boxed ${style.used}`}>
      <caption className="sr">{say("tools")}</caption>
      <thead>
        <tr>
          <th>{say("tools")}</th>
          <th className="num">{say("calls")}</th>
          <th className="num">{say("failed")}</th>
          <th className="num wide">{say("mean")}</th>
        </tr>
      </thead>
      <tbody>
        {tools.map((one) => (
          <tr key={`${one.tool}${one.tool_id}`}>
            <td>
              <UsedName kind={kindOfTool(one)} share={one.calls / most}>
                <span title={one.tool}>{one.tool.replace(DELEGATION, "")}</span>
              </UsedName>
            </td>
            <td className="num t-2">{one.calls.toLocaleString(locale)}</td>
            <td className={`num ${one.failed_calls ? style.bad : "t-3"}`}>
              {one.failed_calls ? one.failed_calls.toLocaleString(locale) : "–"}
            </td>
            <td className="num t-2 wide">{formatDuration(one.avg_execution_time_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The models and tools of the period, the most used first. */
export function UsedResources({ stats }: { stats: Breakdown }) {
  const unnamed = countUnnamedCalls(stats);
  return (
    <div className={style.two}>
      <section className="card" aria-label={say("models")}>
        {stats.models.length ? <UsedModels models={stats.models} /> : <p className={style.none}>{say("noModels")}</p>}
      </section>
      <section className="card" aria-label={say("tools")}>
        {stats.tools.length > 0 && <UsedTools tools={stats.tools} />}
        {(unnamed > 0 || !stats.tools.length) && (
          <p className={style.none}>{unnamed > 0 ? say("unnamed", { count: unnamed }) : say("noTools")}</p>
        )}
      </section>
    </div>
  );
}
