import { Button } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { findProvider, providerNameOf } from "../../shared/providers/providers";
import { type ApiKey, type Tried, tryStoredKey, useProviderKeyChange } from "../../shared/providers/queries";
import { describeTestResult } from "../../shared/providers/server_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");

/** Whether a key stands for a server of one's own, and not for a provider. */
export const isServerKey = (key: ApiKey) => Boolean(findProvider(key.provider)?.isKeyless);

/** The keys that exist, from an earlier visit or another person: one press takes one of them. */
export function ConnectedKeys({ keys, onWorks }: { keys: ApiKey[]; onWorks: (tried: Required<Tried>) => void }) {
  const attempt = useProviderKeyChange(async (key: ApiKey) => {
    const { key: stored, test } = await tryStoredKey(key);
    if (stored) onWorks({ key: stored, test });
    return test;
  });
  const failure = attempt.error
    ? asApiError(attempt.error).message
    : attempt.data && !attempt.data.success && describeTestResult(attempt.data.message);
  return (
    <>
      {keys.map((key) => (
        <div className="row g8" key={key.id}>
          <span className="grow stack">
            <span className="row g8 wrap">
              <span className="t-13 t-500">{key.name}</span>
              <StatusPill tone="ok">{say("isConnected")}</StatusPill>
            </span>
            <span className="t-12 t-3 cut">{key.base_url ?? providerNameOf(key.provider)}</span>
          </span>
          <Button
            variant="default"
            size="xs"
            loading={attempt.isPending && attempt.variables.id === key.id}
            onClick={() => attempt.mutate(key)}
          >
            {say("useKey", { name: key.name })}
          </Button>
        </div>
      ))}
      <ProblemNote>{failure}</ProblemNote>
    </>
  );
}
