import { Button, Checkbox, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { FailureState } from "../../shared/states/states";
import style from "./profile.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/users");

type CodeFieldProps = { code: string; error?: string; onChange: (code: string) => void };

const CodeField = ({ code, error, onChange }: CodeFieldProps) => (
  <TextInput
    label={say("codeOf")}
    error={error}
    w={200}
    inputMode="numeric"
    autoComplete="one-time-code"
    value={code}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);

type SecretProps = {
  secret: { qr_code_url: string; secret: string; recovery_codes: string[] };
  isStored: boolean;
  onStored: (isStored: boolean) => void;
};

/** What is shown once: the secret for the app, and the recovery codes. */
const FactorSecret = ({ secret, isStored, onStored }: SecretProps) => (
  <>
    <p className="t-13">{say("scan")}</p>
    <img className={style.qr} src={secret.qr_code_url} alt={say("qr")} />
    <code className="mono t-12">{secret.secret}</code>
    <div className="note warn">
      <div className="stack g6">
        <span>{say("recovery")}</span>
        <div className={style.codes}>
          {secret.recovery_codes.map((one) => (
            <div key={one}>{one}</div>
          ))}
        </div>
      </div>
    </div>
    <Checkbox label={say("stored")} checked={isStored} onChange={(event) => onStored(event.currentTarget.checked)} />
  </>
);

/** Turn the second step on (QR code, first code, recovery codes) or off (with a code). */
export function SecondFactorSection() {
  const client = useQueryClient();
  const status = useQuery({ queryKey: ["auth", "mfa"], queryFn: () => unwrapData(api.GET("/api/v1/mfa/status")) });
  const [code, setCode] = useState("");
  const [isStored, setStored] = useState(false);
  const finishSetUp = () => {
    setCode("");
    setup.reset();
    return client.invalidateQueries({ queryKey: ["auth", "mfa"] });
  };
  // The secret lives in this component only: never in the cache.
  const setup = useMutation({ mutationFn: () => unwrapData(api.POST("/api/v1/mfa/setup", { body: {} })), gcTime: 0 });
  const enable = useMutation({
    mutationFn: () => unwrapData(api.POST("/api/v1/mfa/enable", { body: { code } })),
    onSuccess: finishSetUp,
  });
  const disable = useMutation({
    mutationFn: () => unwrapData(api.POST("/api/v1/mfa/disable", { body: { code } })),
    onSuccess: finishSetUp,
  });
  if (status.error) return <FailureState error={status.error} onRetry={() => void status.refetch()} />;
  if (!status.data) return null;
  const { enabled, devices_count, recovery_codes_remaining } = status.data;
  const refusal = asApiError(setup.error ?? enable.error ?? disable.error ?? "");
  const wrongCode = typeof refusal.details.code === "string" ? say("codeWrong") : undefined;
  const field = <CodeField code={code} error={wrongCode} onChange={setCode} />;
  return (
    <div className="stack g12">
      <p className="t-13 t-2">
        {enabled ? say("mfaOn", { count: devices_count, left: recovery_codes_remaining }) : say("mfaOff")}
      </p>
      {!wrongCode && <ProblemNote>{refusal.message}</ProblemNote>}
      {enabled && (
        <>
          {field}
          <div>
            <Button
              variant="default"
              color="red"
              disabled={!code}
              loading={disable.isPending}
              onClick={() => disable.mutate()}
            >
              {say("off")}
            </Button>
          </div>
        </>
      )}
      {!enabled && !setup.data && (
        <div>
          <Button variant="default" loading={setup.isPending} onClick={() => setup.mutate()}>
            {say("add")}
          </Button>
        </div>
      )}
      {!enabled && setup.data && (
        <>
          <FactorSecret secret={setup.data} isStored={isStored} onStored={setStored} />
          {field}
          <div>
            <Button disabled={!code || !isStored} loading={enable.isPending} onClick={() => enable.mutate()}>
              {say("confirm")}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
