import { Button, Modal, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState } from "../../shared/states/states";
import { createSubmitHandler } from "../../shared/submit_handler";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { useFieldProblems } from "../../shared/use_fields";
import { parseDomains } from "./domains";
import { DomainsField } from "./domains_field";
import {
  changeKeyDomains,
  createEmbedKey,
  type EmbedKey,
  embedKeysQuery,
  hostedPageQuery,
  revokeEmbedKey,
  rotateEmbedKey,
  setFilesAllowed,
  useEmbedChange,
} from "./queries";
import style from "./share.module.css";
import { KeyShownOnce, type ShownKey } from "./shown_once";
import { listWebsiteKeys } from "./website_keys";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
type Doing = { action: "create" } | { action: "domains" | "rotate" | "revoke"; key: EmbedKey };

const RefusalNote = ({ error }: { error: Error | null }) =>
  error && (
    <div className="note bad" role="alert">
      {asApiError(error).message}
    </div>
  );

type ListProps = {
  agentId: string;
  /** Only those of websites, without the one of the agent's own page. */
  isForWebsites: boolean;
  onNewKey: (key: string) => void;
};

/** The keys with which pages reach the agent; a key itself is shown once. */
export function EmbedKeyList({ agentId, isForWebsites, onNewKey }: ListProps) {
  const mayWrite = usePermissionCheck()("embed_keys:write");
  const list = useQuery(embedKeysQuery(agentId));
  const { data: page } = useQuery(hostedPageQuery(agentId));
  const keys = list.data && listWebsiteKeys(list.data.data, isForWebsites ? page?.embed_key_id : undefined);
  const [doing, setDoing] = useState<Doing>();
  const [shown, setShown] = useState<ShownKey>();
  const showSecret = (found: ShownKey) => {
    setDoing(undefined);
    setShown(found);
    onNewKey(found.key);
  };
  const closeDialog = () => setDoing(undefined);
  return (
    <section className="stack g12" aria-label={say("keys")}>
      <div className="row g8">
        <h2 className="t-sec grow">{say("keys")}</h2>
        {mayWrite && (
          <Button size="xs" variant="default" onClick={() => setDoing({ action: "create" })}>
            {say("createKey")}
          </Button>
        )}
      </div>
      {list.error && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
      {keys?.length === 0 && <p className="t-13 t-2">{say("noKeys")}</p>}
      <ul className="stack g8">
        {keys?.map((key) => (
          <KeyRow
            key={key.id}
            agentId={agentId}
            of={key}
            isOfPage={key.id === page?.embed_key_id}
            mayWrite={mayWrite}
            onDo={(action) => setDoing({ action, key })}
          />
        ))}
      </ul>
      {doing?.action === "create" && <CreateKeyDialog agentId={agentId} onShow={showSecret} onClose={closeDialog} />}
      {doing?.action === "domains" && <KeyDomainsDialog agentId={agentId} of={doing.key} onClose={closeDialog} />}
      {doing?.action === "rotate" && (
        <RotateKeyDialog agentId={agentId} of={doing.key} onShow={showSecret} onClose={closeDialog} />
      )}
      {doing?.action === "revoke" && <RevokeKeyDialog agentId={agentId} of={doing.key} onClose={closeDialog} />}
      {shown && <KeyShownOnce of={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

type RowProps = {
  agentId: string;
  of: EmbedKey;
  isOfPage: boolean;
  mayWrite: boolean;
  onDo: (action: "domains" | "rotate" | "revoke") => void;
};

function KeyRow({ agentId, of: key, isOfPage, mayWrite, onDo }: RowProps) {
  const change = useEmbedChange(agentId, setFilesAllowed);
  return (
    <li className={style.key}>
      <div className="row g8">
        <span className="t-13 t-500 cut grow">{key.name}</span>
        <span className="mono t-12 t-3">{key.key_prefix}…</span>
      </div>
      <span className="t-12 t-2">
        {isOfPage && `${say("keyOfPage")} `}
        {key.allowed_domains.length ? key.allowed_domains.join(", ") : !isOfPage && say("everyDomain")}
      </span>
      <Switch
        size="xs"
        label={say("takesFiles")}
        checked={key.allow_attachments}
        disabled={!mayWrite || change.isPending}
        onChange={(event) => change.mutate({ id: key.id, isAllowed: event.currentTarget.checked })}
      />
      <RefusalNote error={change.error} />
      <div className="row g6 wrap">
        <span className="t-12 t-3 grow" title={key.last_used_at ? formatExactTime(key.last_used_at) : undefined}>
          {key.last_used_at ? say("lastUsed", { when: formatTimeSince(key.last_used_at) }) : say("neverUsed")}
        </span>
        {mayWrite &&
          (["domains", "rotate", "revoke"] as const).map((action) => (
            <Button
              key={action}
              size="xs"
              variant="default"
              {...(action === "revoke" ? { color: "red" } : {})}
              onClick={() => onDo(action)}
            >
              {say(action)}
            </Button>
          ))}
      </div>
    </li>
  );
}

type CreateProps = { agentId: string; onShow: (shown: ShownKey) => void; onClose: () => void };

function CreateKeyDialog({ agentId, onShow, onClose }: CreateProps) {
  const [name, setName] = useState(say("website"));
  const [domains, setDomains] = useState("");
  const create = useEmbedChange(agentId, createEmbedKey);
  const { form, rest, problemOf } = useFieldProblems(create.error, ["name", "allowed_domains"]);
  const submitKey = async () => {
    const made = await create.mutateAsync({ agent_id: agentId, name, allowed_domains: parseDomains(domains) });
    onShow({ title: made.name, key: made.api_key, secret: made.identity_secret });
  };
  return (
    <Modal opened onClose={onClose} title={say("createKey")} size={460}>
      <form ref={form} className="stack g16" onSubmit={createSubmitHandler(submitKey)}>
        {rest && <RefusalNote error={create.error} />}
        <TextInput
          label={say("keyName")}
          error={problemOf("name")}
          value={name}
          maxLength={100}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <DomainsField
          value={domains}
          error={create.error}
          sent={create.variables?.allowed_domains}
          problem={problemOf("allowed_domains")}
          onChange={setDomains}
        />
        <Button type="submit" className="push" loading={create.isPending} disabled={!name.trim()}>
          {say("createKey")}
        </Button>
      </form>
    </Modal>
  );
}

type KeyProps = { agentId: string; of: EmbedKey; onClose: () => void };

function KeyDomainsDialog({ agentId, of: key, onClose }: KeyProps) {
  const [text, setText] = useState(key.allowed_domains.join("\n"));
  const change = useEmbedChange(agentId, changeKeyDomains);
  const { form, rest, problemOf } = useFieldProblems(change.error, ["allowed_domains"]);
  return (
    <Modal opened onClose={onClose} title={say("domainsOf", { name: key.name })} size={460}>
      <form
        ref={form}
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void change.mutateAsync({ id: key.id, domains: parseDomains(text) }).then(onClose, () => undefined);
        }}
      >
        {rest && <RefusalNote error={change.error} />}
        <DomainsField
          value={text}
          error={change.error}
          sent={change.variables?.domains}
          problem={problemOf("allowed_domains")}
          onChange={setText}
        />
        <Button type="submit" className="push" loading={change.isPending}>
          {say("saveDomains")}
        </Button>
      </form>
    </Modal>
  );
}

function RotateKeyDialog({ agentId, of: key, onShow, onClose }: KeyProps & { onShow: (shown: ShownKey) => void }) {
  const rotate = useEmbedChange(agentId, rotateEmbedKey);
  const rotateAndShow = async () => onShow({ title: key.name, key: (await rotate.mutateAsync(key.id)).api_key });
  return (
    <Modal opened onClose={onClose} title={say("rotateTitle", { name: key.name })} size={440}>
      <div className="stack g16">
        <RefusalNote error={rotate.error} />
        <p className="t-2">{say("rotateText")}</p>
        <Button className="push" loading={rotate.isPending} onClick={() => void rotateAndShow().catch(() => undefined)}>
          {say("rotate")}
        </Button>
      </div>
    </Modal>
  );
}

function RevokeKeyDialog({ agentId, of: key, onClose }: KeyProps) {
  const [typed, setTyped] = useState("");
  const revoke = useEmbedChange(agentId, revokeEmbedKey);
  return (
    <Modal opened onClose={onClose} title={say("revokeTitle", { name: key.name })} size={440}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void revoke.mutateAsync(key.id).then(onClose, () => undefined);
        }}
      >
        <RefusalNote error={revoke.error} />
        <p className="t-2">{say("revokeText")}</p>
        <TextInput
          label={say("typeName", { name: key.name })}
          value={typed}
          data-autofocus
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" color="red" className="push" loading={revoke.isPending} disabled={typed !== key.name}>
          {say("revoke")}
        </Button>
      </form>
    </Modal>
  );
}
