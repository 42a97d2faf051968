import { useQuery } from "@tanstack/react-query";
import { basePath } from "../../api/base";
import { api, unwrapData } from "../../api/client";
import { describeFailure } from "../../shared/failures/failures";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatExactTime, formatTimeLeft, formatTimeSince } from "../../shared/time";
import style from "./home.module.css";
import { type DetailedKind, describeScope, hasNeedDetail } from "./need_scope";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");
const SHOWN = 5;

/** One thing about a need: a name, a value and when it happened. */
type Fact = { name: string; value: string; at?: string };
type Loader = (need: Need) => Promise<Fact[]>;

const loadFailedDeliveries: Loader = async ({ object, params }) => {
  const query = { status: "failed", per_page: SHOWN } as const;
  const found = await unwrapData(
    api.GET("/api/v1/webhooks/{webhook_id}/executions", { params: { path: { webhook_id: object.id }, query } }),
  );
  const end = typeof params.disables_at === "string" ? params.disables_at : undefined;
  return [
    ...(end ? [{ name: say("turnsOff"), value: formatTimeLeft(end) }] : []),
    ...found.data.map((one) => ({
      name: one.event_type,
      value: [one.response_code, describeFailure({ code: one.error ?? "", message: one.error_message ?? "" })]
        .filter(Boolean)
        .join(" "),
      at: one.created_at,
    })),
  ];
};

const loadFailedRun: Loader = async ({ object, params }) => {
  const path = { workflow_id: object.id, workflow_execution_id: String(params.execution_id) };
  const { data: run } = await unwrapData(
    api.GET("/api/v1/workflows/{workflow_id}/executions/{workflow_execution_id}", { params: { path } }),
  );
  const error = run.error as { code?: string; message?: string; node_id?: string } | null;
  return [
    ...(error?.node_id ? [{ name: say("failedNode"), value: error.node_id }] : []),
    { name: say("reason"), value: describeFailure(error) ?? "–", at: run.completed_at ?? undefined },
    { name: say("run"), value: run.id },
  ];
};

const loadCredentialUse: Loader = async ({ object, params }) => {
  const found = await unwrapData(
    api.GET("/v1/credentials/{credential_id}/usage", { params: { path: { credential_id: object.id } } }),
  );
  const users = Object.values(found.data).flat();
  const end = typeof params.expires_at === "string" ? params.expires_at : undefined;
  return [
    { name: say("usedBy"), value: users.map((one) => one.name).join(", ") || say("nobody") },
    ...(end ? [{ name: say("expires"), value: formatExactTime(end) }] : []),
  ];
};

const loadBudgetEnd: Loader = async ({ params }) => [
  { name: say("countsFor"), value: describeScope(String(params.scope)) },
  { name: say("beginsAnew"), value: formatTimeLeft(String(params.resets_at)) },
];

const LOADERS: Record<DetailedKind, Loader> = {
  delivery: loadFailedDeliveries,
  run: loadFailedRun,
  credential: loadCredentialUse,
  budget: loadBudgetEnd,
};

/** What is known about a need whose screen does not exist yet. */
export function NeedDetail({ need, id }: { need: Need; id: string }) {
  const {
    data: facts,
    error,
    refetch,
  } = useQuery({
    queryKey: ["home", "need", need.kind, need.object.id],
    queryFn: () => (hasNeedDetail(need) ? LOADERS[need.kind](need) : []),
  });
  return (
    <div id={id} className={style.detail}>
      {error ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : !facts ? (
        <RowSkeletons rows={2} columns={[120, 300]} />
      ) : (
        <dl className="kv">
          {facts.map((fact, i) => (
            <div key={i} className={style.fact}>
              <dt>{fact.name}</dt>
              <dd>
                {fact.value}
                {fact.at && (
                  <span className="t-12 t-3 num" title={formatExactTime(fact.at)}>
                    {" "}
                    {formatTimeSince(fact.at)}
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <span className="row g12 wrap">
        <CopyableId>{need.object.id}</CopyableId>
        <a className="inline-link t-13" href={`${basePath}/docs`} target="_blank" rel="noopener noreferrer">
          {say("reference")}
        </a>
      </span>
    </div>
  );
}
