import ShieldCheck from "icon:shield-check";
import { SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { SecretInput } from "../../shared/secret_input";
import type { DeliveryShown } from "./queries";
import { useSignature } from "./use_signature";
import { VERIFYING_CODE, type VerifyingLanguage } from "./verifying_code";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
const SECRET_START = "whsec_…";
const TIMESTAMP_HEADERS = "X-Service-Timestamp, webhook-timestamp";
const SIGNATURE_HEADERS = ["X-Service-Signature", "webhook-signature"] as const;
const LANGUAGES = Object.keys(VERIFYING_CODE) as VerifyingLanguage[];

type Props = { delivery: DeliveryShown; secret: string; onSecret: (secret: string) => void };

/** Checks what a receiver got against the secret. Nothing of it leaves the page, and nothing keeps it. */
export function SignatureCheck({ delivery, secret, onSecret }: Props) {
  const [timestamp, setTimestamp] = useState("");
  const [received, setReceived] = useState("");
  const [language, setLanguage] = useState<VerifyingLanguage>("Python");
  return (
    <div className="stack g12">
      {delivery.redacted ? (
        <Note>{say("redactedCheck")}</Note>
      ) : (
        <>
          <p className="t-13 t-2">{say("checkText")}</p>
          <SecretInput
            label={say("signingSecret")}
            placeholder={SECRET_START}
            autoComplete="off"
            value={secret}
            onChange={(event) => onSecret(event.currentTarget.value)}
          />
          <TextInput
            label={say("timestampGot")}
            description={TIMESTAMP_HEADERS}
            inputMode="numeric"
            value={timestamp}
            onChange={(event) => setTimestamp(event.currentTarget.value.trim())}
          />
          <TextInput
            label={say("signatureGot")}
            description={SIGNATURE_HEADERS.join(", ")}
            value={received}
            onChange={(event) => setReceived(event.currentTarget.value)}
          />
          {secret && timestamp && <CheckResult {...{ delivery, secret, timestamp, received }} />}
        </>
      )}
      <div className="stack g8">
        <SegmentedControl
          aria-label={say("language")}
          data={LANGUAGES}
          value={language}
          onChange={(name) => setLanguage(LANGUAGES.find((one) => one === name) ?? "Python")}
        />
        <CopyableCode label={say("codeFor", { language })} text={VERIFYING_CODE[language]} />
      </div>
    </div>
  );
}

type ResultProps = { delivery: DeliveryShown; secret: string; timestamp: string; received: string };

function CheckResult({ delivery, secret, timestamp, received }: ResultProps) {
  const parts = { secret: secret.trim(), id: delivery.event_id, timestamp, body: delivery.rawBody };
  const signed = useSignature(parts, received);
  if (!signed) return null;
  if (!received.trim())
    return (
      <>
        <CopyableCode label={SIGNATURE_HEADERS[0]} text={signed.own} />
        {signed.standard && <CopyableCode label={SIGNATURE_HEADERS[1]} text={signed.standard} />}
      </>
    );
  return (
    <div role="status">
      {signed.isGenuine ? (
        <Note tone="ok" icon={<ShieldCheck size={15} />}>
          {say("signatureFits")}
        </Note>
      ) : (
        <Note tone="bad">{say("signatureDiffers")}</Note>
      )}
    </div>
  );
}
