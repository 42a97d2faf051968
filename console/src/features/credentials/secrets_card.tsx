import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { SheetSection } from "../../shared/patterns/sheet";
import { RevealControl, useRevealedSecrets } from "../../shared/secrets/reveal_control";
import { SecretLine } from "../../shared/secrets/secret_line";
import { formatDay } from "../../shared/time";
import style from "./credential.module.css";
import { type Credential, revealSecrets } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const readSecretsInClear = async (id: string) => (await revealSecrets(id)).secrets;

/** The keys of the secrets, masked; those who may see them in clear for half a minute. */
export function SecretsCard({ credential }: { credential: Credential }) {
  const may = usePermissionCheck();
  const revealed = useRevealedSecrets(credential.id, readSecretsInClear);
  const mayReveal = may("credentials:reveal");
  return (
    <SheetSection
      title={say("secrets")}
      note={say("secretsVersion", {
        version: credential.version,
        day: formatDay(credential.rotated_at ?? credential.created_at),
      })}
      actions={mayReveal && <RevealControl revealed={revealed} />}
    >
      <RefusalNote error={revealed.error} />
      <div className="card">
        <ul>
          {credential.secret_keys.map((key) => (
            <SecretLine key={key} name={key} masked={credential.masked[key]} clear={revealed.secrets?.[key]} />
          ))}
        </ul>
        <div className={style.foot}>{say(mayReveal ? "revealNote" : "revealNeeds")}</div>
      </div>
    </SheetSection>
  );
}
