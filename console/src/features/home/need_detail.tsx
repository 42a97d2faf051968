import { useQuery } from "@tanstack/react-query";
import { basePath } from "../../api/base";
import { api, data } from "../../api/client";
import { failureOf } from "../../shared/failures/failures";
import { words } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, timeLeft, timeSince } from "../../shared/time";
import style from "./home.module.css";
import type { Need } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/home");
const SHOWN = 5;

/** One thing about a need: a name, a value and when it happened. */
type Fact = { name: string; value: string; at?: string };
type Loader = (need: Need) => Promise<Fact[]>;

const failedDeliveries: Loader = async ({ object, params }) => {
  const query = { status: "failed", per_page: SHOWN } as const;
  const found = await data(
    api.GET("/api/v1/webhooks/{webhook_id}/executions", { params: { path: { webhook_id: object.id }, query } }),
  );
  const end = typeof params.disables_at === "string" ? params.disables_at : undefined;
  return [
    ...(end ? [{ name: say("turnsOff"), value: timeLeft(end) }] : []),
    ...found.data.map((one) => ({
      name: one.event_type,
      value: [one.response_code, failureOf({ code: one.error ?? "", message: one.error_message ?? "" })]
        .filter(Boolean)
        .join(" "),
      at: one.created_at,
    })),
  ];
};

const failedRun: Loader = async ({ object, params }) => {
  const path = { workflow_id: object.id, workflow_execution_id: String(params.execution_id) };
  const { data: run } = await data(
    api.GET("/api/v1/workflows/{workflow_id}/executions/{workflow_execution_id}", { params: { path } }),
  );
  const error = run.error as { code?: string; message?: string; node_id?: string } | null;
  return [
    ...(error?.node_id ? [{ name: say("failedNode"), value: error.node_id }] : []),
    { name: say("reason"), value: failureOf(error) ?? "–", at: run.completed_at ?? undefined },
    { name: say("run"), value: run.id },
  ];
};

const failedNotifications: Loader = async ({ object }) => {
  const query = { status: "failed", per_page: SHOWN } as const;
  const found = await data(
    api.GET("/api/v1/notification-channels/{channel_id}/logs", { params: { path: { channel_id: object.id }, query } }),
  );
  return found.data.map((one) => ({
    name: one.recipient ?? one.type,
    value: failureOf({ code: one.error_code ?? "", message: one.error ?? "" }) ?? "–",
    at: one.created_at,
  }));
};

const credentialUse: Loader = async ({ object, params }) => {
  const found = await data(
    api.GET("/v1/credentials/{credential_id}/usage", { params: { path: { credential_id: object.id } } }),
  );
  const users = Object.values(found.data).flat();
  const end = typeof params.expires_at === "string" ? params.expires_at : undefined;
  return [
    { name: say("usedBy"), value: users.map((one) => one.name).join(", ") || say("nobody") },
    ...(end ? [{ name: say("expires"), value: exactTime(end) }] : []),
  ];
};

const SCOPES = ["tenant", "agent", "user", "embed_key", "provider_key"] as const;

/** What a budget applies to; what is newer than this console stands for itself. */
export function scopeWords(scope: string): string {
  const known = SCOPES.find((one) => one === scope);
  return known ? say(`scope_${known}`) : scope;
}

const budgetEnd: Loader = async ({ params }) => [
  { name: say("countsFor"), value: scopeWords(String(params.scope)) },
  { name: say("beginsAnew"), value: timeLeft(String(params.resets_at)) },
];

const LOADERS: Partial<Record<Need["kind"], Loader>> = {
  delivery: failedDeliveries,
  run: failedRun,
  channel: failedNotifications,
  credential: credentialUse,
  budget: budgetEnd,
};
export const hasDetail = (need: Need) => need.kind in LOADERS;

/** What is known about a need whose screen does not exist yet. */
export function NeedDetail({ need, id }: { need: Need; id: string }) {
  const {
    data: facts,
    error,
    refetch,
  } = useQuery({
    queryKey: ["home", "need", need.kind, need.object.id],
    queryFn: () => LOADERS[need.kind]?.(need) ?? [],
  });
  return (
    <div id={id} className={style.detail}>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !facts ? (
        <RowsLoading rows={2} columns={[120, 300]} />
      ) : (
        <dl className="kv">
          {facts.map((fact, i) => (
            <div key={i} className={style.fact}>
              <dt>{fact.name}</dt>
              <dd>
                {fact.value}
                {fact.at && (
                  <span className="t-12 t-3 num" title={exactTime(fact.at)}>
                    {" "}
                    {timeSince(fact.at)}
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
