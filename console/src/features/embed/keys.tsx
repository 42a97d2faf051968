import { Button, Modal, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { Failure } from "../../shared/states/states";
import { submitHandler } from "../../shared/submit_handler";
import { exactTime, timeSince } from "../../shared/time";
import { useFields } from "../../shared/use_fields";
import { parseDomains } from "./domains";
import { DomainsField } from "./domains_field";
import {
  allowFiles,
  changeDomains,
  createEmbedKey,
  type EmbedKey,
  embedKeysQuery,
  revokeKey,
  rotateKey,
  useEmbedChange,
} from "./queries";
import style from "./share.module.css";
import { KeyShownOnce, type ShownKey } from "./shown_once";
import en from "./words.en.json";

const say = words(en, "features/embed");
type Doing = { action: "create" } | { action: "domains" | "rotate" | "revoke"; key: EmbedKey };

const Refusal = ({ error }: { error: Error | null }) =>
  error && (
    <div className="note bad" role="alert">
      {asApiError(error).message}
    </div>
  );

/** The keys with which pages reach the agent; a key itself is shown once. */
export function EmbedKeys({ agentId, onNewKey }: { agentId: string; onNewKey: (key: string) => void }) {
  const mayWrite = useMay()("embed_keys:write");
  const list = useQuery(embedKeysQuery(agentId));
  const [doing, setDoing] = useState<Doing>();
  const [shown, setShown] = useState<ShownKey>();
  const show = (found: ShownKey) => {
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
      {shown && <KeyShownOnce of={shown} onClose={() => setShown(undefined)} />}
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
        <span className="t-12 t-3 grow" title={key.last_used_at ? exactTime(key.last_used_at) : undefined}>
          {key.last_used_at ? say("lastUsed", { when: timeSince(key.last_used_at) }) : say("neverUsed")}
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

function CreateKey({ agentId, onShow, onClose }: CreateProps) {
  const [name, setName] = useState(say("website"));
  const [domains, setDomains] = useState("");
  const create = useEmbedChange(agentId, createEmbedKey);
  const { form, rest, problemOf } = useFields(create.error, ["name", "allowed_domains"]);
  const submit = async () => {
    const made = await create.mutateAsync({ agent_id: agentId, name, allowed_domains: parseDomains(domains) });
    onShow({ title: made.name, key: made.api_key, secret: made.identity_secret });
  };
  return (
    <Modal opened onClose={onClose} title={say("createKey")} size={460}>
      <form ref={form} className="stack g16" onSubmit={submitHandler(submit)}>
        {rest && <Refusal error={create.error} />}
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

function Domains({ agentId, of: key, onClose }: KeyProps) {
  const [text, setText] = useState(key.allowed_domains.join("\n"));
  const change = useEmbedChange(agentId, changeDomains);
  const { form, rest, problemOf } = useFields(change.error, ["allowed_domains"]);
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
        {rest && <Refusal error={change.error} />}
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

function Rotate({ agentId, of: key, onShow, onClose }: KeyProps & { onShow: (shown: ShownKey) => void }) {
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
