import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { PageSwitcher } from "../../shared/list/pages";
import { AgentMark } from "../../shared/marks/agent_mark";
import { Avatar } from "../../shared/marks/avatar";
import { Sparkline } from "../../shared/marks/sparkline";
import { StatusPill } from "../../shared/marks/status";
import type { UsageFilters, UsageGroup } from "./filters";
import { nameWithoutGroup, useGroupNames } from "./names";
import { groupCourseQuery } from "./queries";
import {
  amountOf,
  courseOf,
  GROUPS_PER_PAGE,
  type GroupUsage,
  groupsOfPage,
  huesOf,
  stepsOf,
  toGroupIds,
} from "./report";
import style from "./usage.module.css";
import { UsageCost } from "./usage_cost";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
/** Every group with its share, twenty to a page. */
export function GroupTable({ groups, filters }: { groups: GroupUsage[]; filters: UsageFilters }) {
  const navigate = useNavigate();
  const { by = "agent", what = "cost", period = "30d" } = filters;
  const page = Math.min(filters.page ?? 1, Math.ceil(groups.length / GROUPS_PER_PAGE));
  const rows = groupsOfPage(groups, page);
  const course = useQuery(groupCourseQuery(by, period, toGroupIds(rows)));
  const nameOf = useGroupNames(
    by,
    rows.flatMap(({ id }) => id ?? []),
  );
  const hues = huesOf(groups);
  const total = groups.reduce((sum, one) => sum + amountOf(one, what), 0);
  const { starts } = stepsOf(period, Date.now());
  return (
    <section className="card" aria-label={say(`by_${by}`)}>
      <div className="scroll-x">
        <table className={`table boxed ${style.groups}`}>
          <caption className="sr">{say("tableOf", { by: say(`by_${by}`) })}</caption>
          <thead>
            <tr>
              <th>{say(`one_${by}`)}</th>
              <th className="num wide">{say("chats")}</th>
              <th className="num wide">{say("tokens")}</th>
              <th className="wide">{say("course")}</th>
              <th className="num">{say("share")}</th>
              <th className="num">{say("cost")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <GroupRow
                key={one.id ?? "none"}
                group={one}
                by={by}
                name={one.id === null ? nameWithoutGroup(by) : (nameOf(one.id) ?? one.id)}
                share={total && (what !== "cost" || one.estimated_cost_usd) ? amountOf(one, what) / total : null}
                hue={(one.id && hues.get(one.id)) || "turn"}
                course={course.data && courseOf(course.data.data, by, one.id, what, starts)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <PageSwitcher
        page={page}
        perPage={GROUPS_PER_PAGE}
        total={groups.length}
        onChange={(next) =>
          void navigate({
            to: "/usage",
            search: { ...filters, page: next > 1 ? next : undefined },
            replace: true,
            resetScroll: false,
          })
        }
      />
    </section>
  );
}

type GroupRowProps = {
  group: GroupUsage;
  by: UsageGroup;
  name: string;
  /** Null where nothing is known of it. */
  share: number | null;
  hue: string;
  course?: number[];
};

function GroupRow({ group, by, name, share, hue, course }: GroupRowProps) {
  return (
    <tr>
      <td>
        <GroupName by={by} id={group.id} name={name} share={share ?? 0} hue={hue} />
      </td>
      <td className="num wide">{whole.format(group.chat_requests)}</td>
      <td className="num wide">{compact.format(group.total_tokens)}</td>
      <td className="wide">
        {course?.some((amount) => amount > 0) && <Sparkline values={course} label={say("courseOf", { name })} />}
      </td>
      <td className="num t-2">{share === null ? "–" : percent.format(share)}</td>
      <td className="num t-500">
        {group.unpriced_tokens > 0 && !group.estimated_cost_usd ? (
          <StatusPill tone="warn">{say("noPrice")}</StatusPill>
        ) : (
          <UsageCost counted={group} />
        )}
      </td>
    </tr>
  );
}

type GroupNameProps = { by: UsageGroup; id: string | null; name: string; share: number; hue: string };

/** The name of a group with its mark, and below it a bar: how much of all it used. */
function GroupName({ by, id, name, share, hue }: GroupNameProps) {
  const mayReadAgent = usePermissionCheck()("agents:read");
  const isLink = by === "agent" && id !== null && mayReadAgent && name !== say("deletedAgent");
  return (
    <span className="row g12">
      {by === "agent" && id !== null && <AgentMark id={id} size={26} />}
      {by === "user" && id !== null && <Avatar name={name} />}
      <span className={`stack ${style.name} k-${hue}`}>
        {isLink ? (
          <Link className="t-500 cut" to="/agents/$agentId/statistics" params={{ agentId: id }} title={name}>
            {name}
          </Link>
        ) : (
          <span className={`cut ${by === "model" && id !== null ? "mono t-12" : "t-500"}`} title={name}>
            {name}
          </span>
        )}
        <span className={style.share} style={{ inlineSize: `${Math.max(1, share * 100)}%` }} />
      </span>
    </span>
  );
}
