import Copy from "icon:copy";
import RotateCw from "icon:rotate-cw";
import { Button, Kbd, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { formatBytes } from "../../shared/byte_size";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { JsonView } from "../../shared/marks/json_view";
import { Note } from "../../shared/patterns/note";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { showToast } from "../../shared/toast/toasts";
import { DeliveryAttempts } from "./attempts";
import { drawConclusion } from "./conclusion";
import { copyCommand } from "./copy_command";
import { writeCurlCommand } from "./curl_command";
import { deliveredEventName, describeDelivery } from "./delivery_words";
import {
  type Delivery,
  type DeliveryShown,
  deliveryQuery,
  type OutgoingWebhook,
  retryDelivery,
  useWebhookChange,
} from "./queries";
import { SignatureCheck } from "./signature_check";
import style from "./webhooks.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
const PARTS = ["answer", "request", "signature"] as const;
type Part = (typeof PARTS)[number];
const METHOD = "POST";
const BODY_HEIGHT = 420;

type Props = {
  webhook: OutgoingWebhook;
  id: string;
  rows: readonly Delivery[];
  secret: string;
  onSecret: (secret: string) => void;
};

/** One delivery: what it says of the receiver, its attempts, and what went to and fro. */
export function DeliveryDetail({ webhook, id, rows, secret, onSecret }: Props) {
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(webhook.id, id));
  if (error && !delivery) return <FailureState error={error} onRetry={() => void refetch()} />;
  if (!delivery) return <RowSkeletons rows={6} columns={[160, 240]} />;
  const conclusion = drawConclusion(delivery, rows);
  return (
    <>
      <DetailHead webhook={webhook} delivery={delivery} />
      {conclusion && (
        <Note tone={delivery.status === "failed" ? "bad" : "warn"}>
          <b className="t-500">{say(conclusion.kind)}</b>{" "}
          {say(`${conclusion.kind}Text`, { count: conclusion.count, answer: conclusion.answer })}
        </Note>
      )}
      <div className={style.two}>
        <DeliveryAttempts delivery={delivery} />
        <Exchange webhook={webhook} delivery={delivery} secret={secret} onSecret={onSecret} />
      </div>
    </>
  );
}

function DetailHead({ webhook, delivery }: { webhook: OutgoingWebhook; delivery: DeliveryShown }) {
  const may = usePermissionCheck();
  const retry = useWebhookChange(retryDelivery);
  const mayRetry = may("webhooks:write") && webhook.active;
  const tryNow = () =>
    retry.mutate(
      { id: webhook.id, deliveryId: delivery.id },
      { onSuccess: () => showToast(say("isTried")), onError: (error) => showToast(asApiError(error).message) },
    );
  const copyCurl = () => {
    const { request, rawBody: body } = delivery;
    void copyCommand(writeCurlCommand({ url: webhook.url, headers: request.headers, body }), say("curlCopied"));
  };
  usePageCommands([
    ...(mayRetry ? [{ label: say("tryNow"), keys: "r", run: tryNow }] : []),
    { label: say("asCurl"), keys: "y", run: copyCurl },
  ]);
  return (
    <div className="row g12 wrap">
      <div className="stack grow">
        <h2 className="t-page cut">{deliveredEventName(delivery)}</h2>
        <span className="row g12 wrap">
          <span className="t-13 t-2">{describeDelivery(delivery)}</span>
          <CopyableId>{delivery.id}</CopyableId>
          {may("events:read") && !delivery.test && (
            <Link className="inline-link t-12" to="/events" search={{ event: delivery.event_id }}>
              {say("theEvent")}
            </Link>
          )}
        </span>
      </div>
      <span className="row g6">
        <Button size="xs" variant="default" leftSection={<Copy size={13} />} onClick={copyCurl}>
          {say("asCurl")}
        </Button>
        {mayRetry && (
          <Button
            size="xs"
            variant="default"
            leftSection={<RotateCw size={13} />}
            rightSection={
              <span className="wide">
                <Kbd>R</Kbd>
              </span>
            }
            loading={retry.isPending}
            onClick={tryNow}
          >
            {say("tryNow")}
          </Button>
        )}
      </span>
    </div>
  );
}

type ExchangeProps = Pick<Props, "webhook" | "secret" | "onSecret"> & { delivery: DeliveryShown };

/** The answer, the request, and the check of its signature. */
function Exchange({ webhook, delivery, secret, onSecret }: ExchangeProps) {
  const [part, setPart] = useState<Part>(delivery.status === "delivered" ? "request" : "answer");
  const size = new TextEncoder().encode(delivery.rawBody).length;
  return (
    <div className="stack g12">
      <div className="row g8">
        <SegmentedControl
          aria-label={say("part")}
          data={PARTS.map((value) => ({ value, label: say(value) }))}
          value={part}
          onChange={(value) => setPart(PARTS.find((name) => name === value) ?? "request")}
        />
        {part === "request" && <span className="push t-12 t-3 num">{formatBytes(size)}</span>}
      </div>
      {part === "answer" && <DeliveryAnswer delivery={delivery} />}
      {part === "request" && (
        <>
          <dl className={style.headers}>
            <dt>{METHOD}</dt>
            <dd>{webhook.url}</dd>
            {Object.entries(delivery.request.headers).map(([name, value]) => (
              <div key={name} style={{ display: "contents" }}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {delivery.redacted && <Note>{say("redacted")}</Note>}
          <JsonView value={JSON.parse(delivery.rawBody || "null")} max={BODY_HEIGHT} />
          <p className="t-12 t-3">{say("idStays")}</p>
        </>
      )}
      {part === "signature" && <SignatureCheck delivery={delivery} secret={secret} onSecret={onSecret} />}
    </div>
  );
}

/** What the receiver said last. */
function DeliveryAnswer({ delivery }: { delivery: DeliveryShown }) {
  const last = delivery.attempts.at(-1);
  if (!last) return <p className="t-13 t-3">{say("noAnswerYet")}</p>;
  return (
    <div className="stack g8">
      {last.error_message && <p className="t-13">{last.error_message}</p>}
      {delivery.redacted && <Note>{say("redacted")}</Note>}
      {last.response_body ? (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        <pre className="code" style={{ maxHeight: BODY_HEIGHT }} tabIndex={0} role="group" aria-label={say("answer")}>
          {last.response_body}
        </pre>
      ) : (
        !delivery.redacted && <p className="t-12 t-3">{say("emptyAnswer")}</p>
      )}
    </div>
  );
}
