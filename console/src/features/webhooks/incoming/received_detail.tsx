import Copy from "icon:copy";
import RotateCw from "icon:rotate-cw";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { usePageCommands } from "../../../shared/frame/commands";
import { createTranslator } from "../../../shared/i18n/words";
import { CopyableId } from "../../../shared/marks/copyable_id";
import { JsonView } from "../../../shared/marks/json_view";
import { Note } from "../../../shared/patterns/note";
import { FactList } from "../../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import { formatExactTime } from "../../../shared/time";
import { showToast } from "../../../shared/toast/toasts";
import { copyCommand } from "../copy_command";
import { writeCurlCommand } from "../curl_command";
import style from "../webhooks.module.css";
import en from "../words.en.json";
import { type IncomingWebhook, type Received, receivedQuery, replayReceived, useIncomingChange } from "./queries";

const say = createTranslator(en, "features/webhooks");
const PAYLOAD_HEIGHT = 420;

type Props = { hook: IncomingWebhook; id: string; onReplayed: (id: string) => void };

/** One payload: what became of it, what it holds, and how to take or send it once more. */
export function ReceivedDetail({ hook, id, onReplayed }: Props) {
  const { data: received, error, refetch } = useQuery(receivedQuery(hook.id, id));
  if (error && !received) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!received) return <RowSkeletons rows={5} columns={[120, 240]} />;
  return (
    <>
      <div className="row g12 wrap">
        <div className="stack grow">
          <h2 className="t-page">{say(`came_${received.status}`)}</h2>
          <span className="row g12 wrap">
            <span className="t-13 t-2">{formatExactTime(received.created_at)}</span>
            <CopyableId>{received.id}</CopyableId>
          </span>
        </div>
        <ReceivedActions hook={hook} received={received} onReplayed={onReplayed} />
      </div>
      {received.error && <Note tone="bad">{received.error}</Note>}
      <FactList facts={listFacts(received)} />
      <h3 className="t-sec">{say("payload")}</h3>
      {received.redacted ? <Note>{say("redacted")}</Note> : <JsonView value={received.payload} max={PAYLOAD_HEIGHT} />}
      <h3 className="t-sec">{say("headers")}</h3>
      <dl className={style.headers}>
        {Object.entries(received.headers).map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Where it came from, and what it started. */
function listFacts(received: Received): [string, ReactNode][] {
  const { source_ip, workflow_execution_id, duplicate_of, replay_of, correlation_id } = received;
  return [
    [say("cameFrom"), source_ip],
    ...(workflow_execution_id
      ? [[say("started"), <CopyableId key="run">{workflow_execution_id}</CopyableId>] as [string, ReactNode]]
      : []),
    ...(duplicate_of ? [[say("sameAs"), duplicate_of] as [string, ReactNode]] : []),
    ...(replay_of ? [[say("replayOf"), replay_of] as [string, ReactNode]] : []),
    [
      say("whatCameOfIt"),
      <Link key="trace" className="inline-link" to="/events" search={{ correlation: correlation_id }}>
        {correlation_id}
      </Link>,
    ],
  ];
}

type ActionsProps = { hook: IncomingWebhook; received: Received; onReplayed: (id: string) => void };

function ReceivedActions({ hook, received, onReplayed }: ActionsProps) {
  const mayReplay = usePermissionCheck()("webhooks:write") && hook.active && !received.duplicate_of;
  const replay = useIncomingChange(replayReceived);
  const takeAgain = () =>
    replay.mutate(
      { id: hook.id, receivedId: received.id },
      { onSuccess: ({ id }) => onReplayed(id), onError: (error) => showToast(asApiError(error).message) },
    );
  const copyCurl = () => {
    const headers = { "Content-Type": received.content_type ?? "application/json" };
    const body = JSON.stringify(received.payload);
    void copyCommand(writeCurlCommand({ url: hook.url, headers, body }), say("testCopied"));
  };
  usePageCommands([
    ...(mayReplay ? [{ label: say("takeAgain"), keys: "r", run: takeAgain }] : []),
    ...(received.redacted ? [] : [{ label: say("useAsTest"), keys: "y", run: copyCurl }]),
  ]);
  return (
    <span className="row g6">
      {!received.redacted && (
        <Button size="xs" variant="default" leftSection={<Copy size={13} />} onClick={copyCurl}>
          {say("useAsTest")}
        </Button>
      )}
      {mayReplay && (
        <Button
          size="xs"
          variant="default"
          leftSection={<RotateCw size={13} />}
          loading={replay.isPending}
          onClick={takeAgain}
        >
          {say("takeAgain")}
        </Button>
      )}
    </span>
  );
}
