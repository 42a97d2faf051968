import { Button } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { findProvider, providerName } from "../../shared/providers/providers";
import { type ApiKey, type Tried, tryStoredKey, useKeyChange } from "../../shared/providers/queries";
import { testWords } from "../../shared/providers/server_words";
import en from "./words.en.json";

const say = words(en, "features/welcome");

/** Whether a key stands for a server of one's own, and not for a provider. */
export const isServerKey = (key: ApiKey) => Boolean(findProvider(key.provider)?.isKeyless);

/** The keys that exist, from an earlier visit or another person: one press takes one of them. */
export function ConnectedKeys({ keys, onWorks }: { keys: ApiKey[]; onWorks: (tried: Required<Tried>) => void }) {
  const attempt = useKeyChange(async (key: ApiKey) => {
    const { key: stored, test } = await tryStoredKey(key);
    if (stored) onWorks({ key: stored, test });
    return test;
  });
  const failure = attempt.error
    ? asApiError(attempt.error).message
    : attempt.data && !attempt.data.success && testWords(attempt.data.message);
  return (
    <>
      {keys.map((key) => (
        <div className="row g8" key={key.id}>
          <span className="grow stack">
            <span className="row g8 wrap">
              <span className="t-13 t-500">{key.name}</span>
              <Pill tone="ok">{say("isConnected")}</Pill>
            </span>
            <span className="t-12 t-3 cut">{key.base_url ?? providerName(key.provider)}</span>
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
      {failure && (
        <div className="note bad" role="alert">
          {failure}
        </div>
      )}
    </>
  );
}
