import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { RowTable } from "../../shared/list/row_table";
import { StatusPill } from "../../shared/marks/status";
import { OutcomeBars } from "../../shared/patterns/outcome_bars";
import { DAYS_OF_RUNS, runsByToolQuery, type ToolListed } from "./queries";
import { ToolState } from "./tool_state";
import { ToolSwitch } from "./tool_switch";
import style from "./tools.module.css";
import { ToolIcon } from "./type_icon";
import en from "./words.en.json";

const say = createTranslator(en, "features/tools");
const NO_RUNS = new Array<number>(DAYS_OF_RUNS).fill(0);

/** The tools of a page; how often they ran is part of it for those who may read what the organization uses. */
export const ToolTable = memo(function ToolTable({ rows }: { rows: ToolListed[] }) {
  const maySeeRuns = usePermissionCheck()("usage:read");
  const runs = useQuery({ ...runsByToolQuery, enabled: maySeeRuns });
  return (
    <RowTable title={say("title")} className={style.table}>
      <thead>
        <tr>
          <th>{say("name")}</th>
          <th>{say("state")}</th>
          <th className="wide">{say("type")}</th>
          <th className="wide">{say("category")}</th>
          {maySeeRuns && <th className="wide">{say("runs14")}</th>}
          <th className="wide num">{say("allRuns")}</th>
          <th className="wide">{say("on")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((tool) => (
          <ToolRow key={tool.id} tool={tool} runs={maySeeRuns ? (runs.data?.[tool.id] ?? NO_RUNS) : undefined} />
        ))}
      </tbody>
    </RowTable>
  );
});

const ToolRow = memo(function ToolRow({ tool, runs }: { tool: ToolListed; runs?: number[] }) {
  return (
    <tr>
      <td>
        <Link data-row className="row g12" to="/tools/$toolId" params={{ toolId: tool.id }}>
          <ToolIcon type={tool.tool_type} />
          <span className={`stack ${style.name}`}>
            <span className="row g6">
              <span className="t-500 cut">{tool.name}</span>
              {tool.requires_approval ? (
                <StatusPill tone="warn">{say("asksFirst")}</StatusPill>
              ) : (
                tool.guarded_count > 0 && (
                  <StatusPill tone="warn">{say("asksFirstFor", { count: tool.guarded_count })}</StatusPill>
                )
              )}
            </span>
            {tool.description && <span className="t-12 t-3 cut">{tool.description}</span>}
          </span>
        </Link>
      </td>
      <td>
        <ToolState {...tool} hasHeldChanges={tool.has_held_changes} />
      </td>
      <td className="wide t-2">{say(`type_${tool.tool_type}`)}</td>
      <td className="wide t-2">{categoryNameOf(tool.category)}</td>
      {runs && (
        <td className="wide">
          <RunBars runs={runs} />
        </td>
      )}
      <td className="wide num t-2">{tool.usage_count ? tool.usage_count.toLocaleString(locale) : "–"}</td>
      <td className="wide">
        <ToolSwitch tool={tool} />
      </td>
    </tr>
  );
});

const isCategoryWord = (key: string): key is keyof typeof en => key in en;
const categoryNameOf = (category: string) =>
  isCategoryWord(`category_${category}`) ? say(`category_${category}` as keyof typeof en) : category;

function RunBars({ runs }: { runs: number[] }) {
  const total = runs.reduce((sum, count) => sum + count, 0);
  return (
    <span className="row g12">
      <OutcomeBars
        outcomes={runs.map((count) => ({ total: count, failed: 0 }))}
        label={say("runsOf", { count: total, days: DAYS_OF_RUNS })}
        width={4}
        height={20}
      />
      <span className="num t-2">{total ? total.toLocaleString(locale) : "–"}</span>
    </span>
  );
}
