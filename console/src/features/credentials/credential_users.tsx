import { useQuery } from "@tanstack/react-query";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import style from "./credential.module.css";
import { credentialUsersQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const KINDS: Record<string, { icon: "tool" | "hook" | "model"; word: "usedTool" | "usedChannel" | "usedKey" }> = {
  tools: { icon: "tool", word: "usedTool" },
  channels: { icon: "hook", word: "usedChannel" },
  api_keys: { icon: "model", word: "usedKey" },
};

/** What stops working without the credential. */
export function CredentialUsers({ credentialId }: { credentialId: string }) {
  const users = useQuery(credentialUsersQuery(credentialId));
  const rows = Object.entries(users.data ?? {}).flatMap(([kind, found]) => found.map((user) => ({ kind, ...user })));
  return (
    <SheetSection title={say("usedBy")}>
      {users.error && <FailureState error={users.error} onRetry={() => void users.refetch()} />}
      {!users.error && !users.data && <RowSkeletons rows={2} columns={[22, 160]} />}
      {users.data && (
        <div className="card">
          {rows.map(({ kind, id, name }) => (
            <div key={id} className={style.line}>
              <KindIcon kind={KINDS[kind]?.icon ?? "turn"} small />
              <span className="t-13 t-500 grow">{name}</span>
              <span className="t-12 t-3">{KINDS[kind] ? say(KINDS[kind].word) : kind}</span>
            </div>
          ))}
          {rows.length === 0 && <div className={style.foot}>{say("unused")}</div>}
        </div>
      )}
    </SheetSection>
  );
}
