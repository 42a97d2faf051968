import { Button, Modal, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { guide } from "../../api/base";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import { Code } from "../../shared/code";
import { words } from "../../shared/i18n/words";
import { Failure } from "../../shared/states/states";
import { ago, exact } from "../../shared/time";
import { parseDomains } from "./domains";
import {
  allowFiles,
  changeDomains,
  createKey,
  type EmbedKey,
  keysQuery,
  revokeKey,
  rotateKey,
  useEmbedChange,
} from "./queries";
import style from "./share.module.css";
import en from "./words.en.json";

const say = words(en, "features/embed");
type Shown = { title: string; key: string; secret?: string };
type Doing = { action: "create" } | { action: "domains" | "rotate" | "revoke"; key: EmbedKey };

const Refusal = ({ error }: { error: Error | null }) =>
  error && (
    <div className="note bad" role="alert">
      {asApiError(error).message}
    </div>
  );

/** The keys with which pages reach the agent; a key itself is shown once. */
export function Keys({ agentId, onNewKey }: { agentId: string; onNewKey: (key: string) => void }) {
  const mayWrite = useMay()("embed_keys:write");
  const list = useQuery(keysQuery(agentId));
  const [doing, setDoing] = useState<Doing>();
  const [shown, setShown] = useState<Shown>();
  const show = (found: Shown) => {
    setDoing(undefined);
    setShown(found);
    onNewKey(found.key);
  };
  const close = () => setDoing(undefined);
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
      {list.error && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.data.length === 0 && <p className="t-13 t-2">{say("noKeys")}</p>}
      <ul className="stack g8">
        {list.data?.data.map((key) => (
          <KeyRow
            key={key.id}
            agentId={agentId}
            of={key}
            mayWrite={mayWrite}
            onDo={(action) => setDoing({ action, key })}
          />
        ))}
      </ul>
      {doing?.action === "create" && <CreateKey agentId={agentId} onShow={show} onClose={close} />}
      {doing?.action === "domains" && <Domains agentId={agentId} of={doing.key} onClose={close} />}
      {doing?.action === "rotate" && <Rotate agentId={agentId} of={doing.key} onShow={show} onClose={close} />}
      {doing?.action === "revoke" && <Revoke agentId={agentId} of={doing.key} onClose={close} />}
      {shown && <ShownOnce of={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

type RowProps = {
  agentId: string;
  of: EmbedKey;
  mayWrite: boolean;
  onDo: (action: "domains" | "rotate" | "revoke") => void;
};

function KeyRow({ agentId, of: key, mayWrite, onDo }: RowProps) {
  const change = useEmbedChange(agentId, allowFiles);
  return (
    <li className={style.key}>
      <div className="row g8">
        <span className="t-13 t-500 cut grow">{key.name}</span>
        <span className="mono t-12 t-3">{key.key_prefix}…</span>
      </div>
      <span className="t-12 t-2">
        {key.allowed_domains.length ? key.allowed_domains.join(", ") : say("everyDomain")}
      </span>
      <Switch
        size="xs"
        label={say("takesFiles")}
        checked={key.allow_attachments}
        disabled={!mayWrite || change.isPending}
        onChange={(event) => change.mutate({ id: key.id, isAllowed: event.currentTarget.checked })}
      />
      <Refusal error={change.error} />
      <div className="row g6 wrap">
        <span className="t-12 t-3 grow" title={key.last_used_at ? exact(key.last_used_at) : undefined}>
          {key.last_used_at ? say("lastUsed", { when: ago(key.last_used_at) }) : say("neverUsed")}
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

const DomainsField = ({ value, onChange }: { value: string; onChange: (text: string) => void }) => (
  <Textarea
    label={say("allowedDomains")}
    description={say("domainsHint")}
    placeholder={"example.com\n*.example.com"}
    autosize
    minRows={2}
    maxRows={6}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);

type CreateProps = { agentId: string; onShow: (shown: Shown) => void; onClose: () => void };

function CreateKey({ agentId, onShow, onClose }: CreateProps) {
  const [name, setName] = useState(say("website"));
  const [domains, setDomains] = useState("");
  const create = useEmbedChange(agentId, createKey);
  const submit = async () => {
    const made = await create.mutateAsync({ agent_id: agentId, name, allowed_domains: parseDomains(domains) });
    onShow({ title: made.name, key: made.api_key, secret: made.identity_secret });
  };
  return (
    <Modal opened onClose={onClose} title={say("createKey")} size={460}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void submit().catch(() => undefined);
        }}
      >
        <Refusal error={create.error} />
        <TextInput
          label={say("keyName")}
          value={name}
          maxLength={100}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <DomainsField value={domains} onChange={setDomains} />
        <Button type="submit" className="push" loading={create.isPending} disabled={!name.trim()}>
          {say("createKey")}
        </Button>
      </form>
    </Modal>
  );
}

type KeyProps = { agentId: string; of: EmbedKey; onClose: () => void };

function Domains({ agentId, of: key, onClose }: KeyProps) {
  const [text, setText] = useState(key.allowed_domains.join("\n"));
  const change = useEmbedChange(agentId, changeDomains);
  return (
    <Modal opened onClose={onClose} title={say("domainsOf", { name: key.name })} size={460}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void change.mutateAsync({ id: key.id, domains: parseDomains(text) }).then(onClose, () => undefined);
        }}
      >
        <Refusal error={change.error} />
        <DomainsField value={text} onChange={setText} />
        <Button type="submit" className="push" loading={change.isPending}>
          {say("saveDomains")}
        </Button>
      </form>
    </Modal>
  );
}

function Rotate({ agentId, of: key, onShow, onClose }: KeyProps & { onShow: (shown: Shown) => void }) {
  const rotate = useEmbedChange(agentId, rotateKey);
  const run = async () => onShow({ title: key.name, key: (await rotate.mutateAsync(key.id)).api_key });
  return (
    <Modal opened onClose={onClose} title={say("rotateTitle", { name: key.name })} size={440}>
      <div className="stack g16">
        <Refusal error={rotate.error} />
        <p className="t-2">{say("rotateText")}</p>
        <Button className="push" loading={rotate.isPending} onClick={() => void run().catch(() => undefined)}>
          {say("rotate")}
        </Button>
      </div>
    </Modal>
  );
}

function Revoke({ agentId, of: key, onClose }: KeyProps) {
  const [typed, setTyped] = useState("");
  const revoke = useEmbedChange(agentId, revokeKey);
  return (
    <Modal opened onClose={onClose} title={say("revokeTitle", { name: key.name })} size={440}>
      <form
        className="stack g16"
        onSubmit={(event) => {
          event.preventDefault();
          void revoke.mutateAsync(key.id).then(onClose, () => undefined);
        }}
      >
        <Refusal error={revoke.error} />
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

function ShownOnce({ of: { title, key, secret }, onClose }: { of: Shown; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={say("shownOnce", { name: title })}
      size={520}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <div className="stack g20">
        <p className="t-2">{say(secret ? "shownOnceText" : "shownKeyText")}</p>
        <div className="stack g6">
          <Code label={say("key")} text={key} />
          <p className="t-12 t-2">{say("keyText")}</p>
        </div>
        {secret && (
          <div className="stack g6">
            <Code label={say("identitySecret")} text={secret} />
            <p className="t-12 t-2">
              <b className="t-500">{say("secretWarning")}</b> {say("secretText")}{" "}
              <a className="link" href={guide("embedding.md#identify-visitors")} target="_blank" rel="noreferrer">
                {say("secretGuide")}
              </a>
            </p>
          </div>
        )}
        <Button className="push" onClick={onClose}>
          {say(secret ? "stored" : "storedKey")}
        </Button>
      </div>
    </Modal>
  );
}
