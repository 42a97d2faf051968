import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { formatDay, formatDecimal } from "../../shared/time";
import type { OrganizationFilters } from "./filters";
import style from "./operate.module.css";
import { planNameOf } from "./plan_names";
import type { Tenant } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

type OrganizationTableProps = { organizations: Tenant[]; filters?: OrganizationFilters; isBoxed?: boolean };

export function OrganizationTable({ organizations, filters, isBoxed }: OrganizationTableProps) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list}>
      <table className={`table ${isBoxed ? "boxed" : ""}`}>
        <caption className="sr">{say("organizations")}</caption>
        <thead>
          <tr>
            <th>{say("name")}</th>
            <th>{say("plan")}</th>
            <th className="wide num">{say("perMinute")}</th>
            <th className="wide num">{say("since")}</th>
          </tr>
        </thead>
        <tbody>
          {organizations.map(({ id, name, plan, limits, created_at }) => (
            <tr key={id} className={id === filters?.id ? "on" : ""}>
              <td className={style.lead}>
                <Link
                  data-row
                  className="t-500 cut"
                  style={{ display: "block" }}
                  to="/operate/organizations"
                  search={{ ...filters, id }}
                  aria-current={id === filters?.id ? "true" : undefined}
                >
                  {name}
                </Link>
              </td>
              <td>{planNameOf(plan)}</td>
              <td className="wide num">
                {limits.requests_per_minute === null ? say("unlimited") : formatDecimal(limits.requests_per_minute, 0)}
              </td>
              <td className="wide num t-2">{formatDay(created_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
