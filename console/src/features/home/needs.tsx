import Check from "icon:check";
import { Button } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon, type KindName } from "../../shared/marks/kind_icon";
import { formatExactTime, formatTimeLeft, formatTimeSince } from "../../shared/time";
import { budgetReasonKeyOf, findBudgetPlace, readBudgetValues, titleKeyOf } from "./budget_words";
import style from "./home.module.css";
import { describeScope, hasNeedDetail } from "./need_scope";
import type { Need } from "./queries";
import en from "./words.en.json";

const NeedRemedy = lazy(() => import("./remedy").then((found) => ({ default: found.NeedRemedy })));
const NeedDetail = lazy(() => import("./need_detail").then((found) => ({ default: found.NeedDetail })));
const say = createTranslator(en, "features/home");
/** The words of failures are loaded where something failed. */
const failureWordsQuery = queryOptions({
  queryKey: ["words", "failures"],
  queryFn: () => import("../../shared/failures/failures"),
  staleTime: Number.POSITIVE_INFINITY,
});
const SHOWN = 6;
const KINDS: Record<Need["kind"], KindName> = {
  delivery: "hook",
  run: "flow",
  channel: "bad",
  api_key: "model",
  credential: "tool",
  document: "know",
  budget: "wait",
  approval: "wait",
  subscription: "hook",
  audit_stream: "hook",
  trace_exporter: "hook",
  model: "model",
  vault: "bad",
  worker: "bad",
  account: "wait",
  administrator: "wait",
};

/** The screen in which a need is solved; while the console has none, the row itself says what is known. */
const PLACES: Partial<Record<Need["kind"], (need: Need) => string | undefined>> = {
  approval: (need) => `/approvals?id=${need.object.id}`,
  api_key: () => "/settings/models",
  channel: (need) => `/channels?id=${need.object.id}`,
  document: (need) => `/agents/${String(need.params.agent_id)}/knowledge`,
  budget: findBudgetPlace,
  model: ({ title_code, object }) =>
    title_code === "model_unpriced" ? `/usage/prices?search=${encodeURIComponent(object.id)}` : "/settings/models",
};

type Key = keyof typeof en;
const formatSentence = (key: string, values: Record<string, string | number>) =>
  key in en ? say(key as Key, values) : undefined;

function NeedRow({ need }: { need: Need }) {
  const { params, object } = need;
  const values: Record<string, string | number> = { name: object.name };
  for (const [name, value] of Object.entries(params))
    if (typeof value === "string" || typeof value === "number") values[name] = value;
  if (typeof params.scope === "string") values.scope = describeScope(params.scope);
  if (typeof params.expires_at === "string") values.left = formatTimeLeft(params.expires_at);
  // A code is for programs; one that this console does not know says less than nothing.
  const code = typeof values.error === "string" && /^[a-z_]*$/.test(values.error) ? values.error : "";
  const { data: failures } = useQuery({ ...failureWordsQuery, enabled: Boolean(code) });
  if (code) values.error = failures?.describeFailureCode(code) ?? "";
  Object.assign(values, readBudgetValues(need));
  const title = formatSentence(titleKeyOf(need), values) ?? object.name;
  const place = PLACES[need.kind]?.(need);
  const [isOpen, setOpen] = useState(false);
  const detailId = `need-${need.object.id}`;
  return (
    <li className={style.need}>
      <KindIcon kind={KINDS[need.kind]} />
      <div className="grow stack">
        <span className="row g8">
          <i className={`dot ${need.severity}`} />
          <span className="sr">{say(need.kind === "approval" ? "waiting" : need.severity)}</span>
          <b className="t-500">{title}</b>
        </span>
        <span className="t-13 t-2">{formatSentence(budgetReasonKeyOf(need), values)}</span>
      </div>
      {/* That of a budget is the start of its period, which may be older than the budget. */}
      {need.kind !== "budget" && (
        <span className="t-12 t-3 fix num" title={formatExactTime(need.since)}>
          {formatTimeSince(need.since)}
        </span>
      )}
      {place && (
        <Button
          size="xs"
          variant={need.action === "decide" ? "filled" : "default"}
          aria-label={`${say(need.action)}: ${title}`}
          renderRoot={(props) => <Link {...props} to={place} />}
        >
          {say(need.action)}
        </Button>
      )}
      {!place && hasNeedDetail(need) && (
        <Button
          size="xs"
          variant="default"
          aria-expanded={isOpen}
          aria-controls={isOpen ? detailId : undefined}
          aria-label={`${say("inspect")}: ${title}`}
          onClick={() => setOpen(!isOpen)}
        >
          {say(isOpen ? "close" : "inspect")}
        </Button>
      )}
      {isOpen && (
        <Suspense fallback={null}>
          <NeedDetail need={need} id={detailId} />
        </Suspense>
      )}
      {!place && !hasNeedDetail(need) && (
        <Suspense fallback={null}>
          <NeedRemedy need={need} title={title} />
        </Suspense>
      )}
    </li>
  );
}

/** Worst first, six at once. */
export function NeedList({ needs, isAll, chats }: { needs: Need[]; isAll: boolean; chats?: number }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <section className="stack g8" aria-labelledby="needs">
      <h2 id="needs" className="t-sec">
        {say("needs")}
      </h2>
      {needs.length === 0 ? (
        <div className={`card row g12 ${style.calm}`}>
          <span className="kind k-form">
            <Check size={16} />
          </span>
          <span className="t-2">
            {!isAll ? say("calmForYou") : chats === undefined ? say("calm") : say("calmWith", { count: chats })}
          </span>
        </div>
      ) : (
        <ul className={`card ${style.needs}`}>
          {needs.slice(0, isWhole ? undefined : SHOWN).map((need) => (
            <NeedRow key={`${need.title_code}${need.object.id}`} need={need} />
          ))}
        </ul>
      )}
      {needs.length > SHOWN && !isWhole && (
        <button type="button" className={style.more} onClick={() => setWhole(true)}>
          {say("more", { count: needs.length - SHOWN })}
        </button>
      )}
    </section>
  );
}
