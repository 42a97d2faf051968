import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { SheetSection } from "../../../shared/patterns/sheet";
import type { Definition } from "../define/definition";
import { createToolCredential, type JsonValues } from "../queries";
import en from "../words.en.json";
import type { WayProps } from "./create_foot";
import { parseCurl } from "./curl";
import { buildCurlTool, type FoundSecret } from "./curl_tool";
import { NewDefinition, newDefinitionOf } from "./form_way";
import style from "./new_tool.module.css";

const say = createTranslator(en, "features/tools");
const EXAMPLE = "curl https://api.example.com/orders -H 'Authorization: Bearer …' --json '{\"sku\": \"lamp\"}'";
const OWN_KEYS: Record<FoundSecret["credentialType"], (secrets: FoundSecret["secrets"]) => JsonValues> = {
  api_key: (secrets) => ({ api_key_value: secrets.api_key }),
  bearer_token: (secrets) => secrets,
  basic_auth: (secrets) => secrets,
};

/** A tool from one curl command, which is read here and sent nowhere. */
export function CurlCommandWay({ onMade, onCancel }: WayProps) {
  const [text, setText] = useState("");
  const [authConfig, setAuthConfig] = useState<JsonValues>();
  const command = parseCurl(text);
  const found = command && buildCurlTool(command);
  const secret = found?.secret;
  const isSecretLeft = secret && !authConfig;
  return (
    <>
      <SheetSection title={say("curlTitle")} note={say("curlNote")}>
        <Textarea
          aria-label={say("curlTitle")}
          classNames={{ input: "mono t-12" }}
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          autoComplete="off"
          placeholder={EXAMPLE}
          error={text.trim() && !found ? say("noCurl") : undefined}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setAuthConfig(undefined);
          }}
        />
        {command && command.ignored.length > 0 && (
          <Note tone="warn">{say("curlIgnored", { options: command.ignored.join(", ") })}</Note>
        )}
      </SheetSection>
      {isSecretLeft && (
        <SecretProposal key={text} secret={secret} host={found.definition.name ?? ""} onDone={setAuthConfig} />
      )}
      {found && !isSecretLeft && (
        <NewDefinition
          key={text}
          first={{ ...newDefinitionOf("rest_api"), ...(found.definition as Partial<Definition>), authConfig }}
          onMade={onMade}
          onCancel={onCancel}
        />
      )}
      {!found && (
        <div className={style.foot}>
          <span className="t-13 t-2 grow">{say("nothingStored")}</span>
        </div>
      )}
    </>
  );
}

type SecretProposalProps = { secret: FoundSecret; host: string; onDone: (authConfig: JsonValues) => void };

/** A secret stood in the command: it becomes a credential, which other tools can use too, or stays with this tool. */
function SecretProposal({ secret, host, onDone }: SecretProposalProps) {
  const mayStore = usePermissionCheck()("credentials:write");
  const [name, setName] = useState(say("credentialName", { host }));
  const client = useQueryClient();
  const store = useMutation({
    mutationFn: createToolCredential,
    onSuccess: ({ id }) => onDone({ ...secret.settings, credential_id: id }),
    onSettled: () => client.invalidateQueries({ queryKey: ["credentials"] }),
  });
  return (
    <SheetSection title={say("secretFound")} note={say(`auth_${secret.authType}`)}>
      <Note tone={store.error ? "bad" : "run"}>
        {store.error ? asApiError(store.error).message : say("secretText")}
      </Note>
      {mayStore && (
        <TextInput
          label={say("credentialNameLabel")}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <div className="row g8 wrap">
        {mayStore && (
          <Button
            loading={store.isPending}
            disabled={!name.trim()}
            onClick={() => store.mutate({ name: name.trim(), type: secret.credentialType, secrets: secret.secrets })}
          >
            {say("storeCredential")}
          </Button>
        )}
        <Button
          variant="default"
          onClick={() => onDone({ ...secret.settings, ...OWN_KEYS[secret.credentialType](secret.secrets) })}
        >
          {say("keepInTool")}
        </Button>
      </div>
    </SheetSection>
  );
}
