import ArrowRight from "icon:arrow-right";
import Check from "icon:check";
import Cpu from "icon:cpu";
import KeyRound from "icon:key-round";
import RotateCw from "icon:rotate-cw";
import Server from "icon:server";
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/marks/status";
import { KeyForm } from "../../shared/providers/key_form";
import { isChatModel, providerName } from "../../shared/providers/providers";
import {
  type ApiKey,
  createProviderKey,
  type FoundServer,
  findKeyOfServer,
  type ModelProbe,
  probeQuery,
  providerKeysQuery,
  type Tried,
  useKeyChange,
} from "../../shared/providers/queries";
import { ServerForm } from "../../shared/providers/server_form";
import { reasonWords } from "../../shared/providers/server_words";
import { translateSentence } from "../../shared/sentences/sentences";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Card } from "./card";
import { ChoiceCard, type Source } from "./choice";
import { ConnectedKeys, isServerKey } from "./connected_keys";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = words(en, "features/welcome");
type Connected = { provider: string; models: string[]; ms?: number; hasSecret?: boolean };
const connectedBy = ({ key, test }: Required<Tried>): Connected => ({
  provider: key.provider,
  models: test.models,
  ms: test.latency_ms,
  hasSecret: Boolean(key.key_prefix),
});

const hostOf = (url: string) => new URL(url).host.replace("127.0.0.1", "localhost");

/** One press connects a found server: it needs no secret. */
function Servers({ servers, onConnected }: { servers: FoundServer[]; onConnected: (found: Connected) => void }) {
  const connect = useKeyChange(async ({ provider, base_url, models, api_key_id }: FoundServer) => {
    if (!api_key_id) await createProviderKey({ provider, base_url, name: hostOf(base_url) });
    return onConnected({ provider, models });
  });
  return (
    <>
      {servers.map((server) => (
        <div className="row g8" key={server.base_url}>
          <span className="grow stack">
            <span className="mono t-13">{hostOf(server.base_url)}</span>
            <span className="t-12 t-3 cut">{server.models.join(", ")}</span>
          </span>
          <Button variant="default" size="xs" loading={connect.isPending} onClick={() => connect.mutate(server)}>
            {say("connect", { host: hostOf(server.base_url) })}
          </Button>
        </div>
      ))}
      {connect.error && (
        <div className="note bad" role="alert">
          {asApiError(connect.error).message}
        </div>
      )}
    </>
  );
}

type OwnServerProps = {
  probe: ModelProbe;
  keys: ApiKey[];
  onConnected: (found: Connected) => void;
  onAgain: () => void;
};

/** What answers on this machine, and the address of one elsewhere. */
function OwnServer({ probe, keys, onConnected, onAgain }: OwnServerProps) {
  const onWorks = (tried: Required<Tried>) => onConnected(connectedBy(tried));
  const others = probe.servers.filter((server) => !findKeyOfServer(keys, server));
  return (
    <>
      <ConnectedKeys keys={keys} onWorks={onWorks} />
      {others.length > 0 && <Servers servers={others} onConnected={onConnected} />}
      {probe.servers.length === 0 && keys.length === 0 && probe.is_searched && (
        <div className="row g8 wrap">
          <span className="t-13 t-2 grow">{say("noServer")}</span>
          <Button variant="default" size="xs" leftSection={<RotateCw size={13} />} onClick={onAgain}>
            {say("lookAgain")}
          </Button>
        </div>
      )}
      <span className="t-13 t-500">{say("otherServer")}</span>
      <ServerForm onWorks={onWorks} />
    </>
  );
}

function Works({ found, model, onModel }: { found: Connected; model: string; onModel: (model: string) => void }) {
  return (
    <>
      <div className="note ok" role="status">
        <Check size={15} />
        {say(found.ms === undefined ? "connected" : found.hasSecret ? "keyWorks" : "serverConnected", {
          provider: providerName(found.provider),
          count: found.models.length,
          ms: found.ms ?? 0,
        })}
      </div>
      <Select
        label={say("whichModel")}
        searchable
        allowDeselect={false}
        data={found.models}
        value={model}
        onChange={(value) => value && onModel(value)}
      />
    </>
  );
}

const chatModelsOf = (models: string[]) => {
  const chat = models.filter(isChatModel);
  return chat.length ? chat : models;
};

type Group = { chosen: Source; onChoose: (source: Source) => void };

/** The model that the server brings. */
function EmbeddedChoice({ model, ...group }: Group & { model?: ModelProbe["embedded"][number] }) {
  const isReady = model?.available ?? false;
  return (
    <ChoiceCard
      {...group}
      of="embedded"
      icon={Cpu}
      kind="k-know"
      title={say("embedded")}
      disabled={!isReady}
      pill={isReady ? <Pill tone="ok">{say("ready")}</Pill> : <Pill tone="warn">{say("notThere")}</Pill>}
      text={
        isReady
          ? say(model?.is_demo ? "embeddedText" : "ownText", { name: translateSentence(model?.name ?? "") })
          : (reasonWords(model?.reason) ?? say("notThere"))
      }
    />
  );
}

/** Keys that are there already, and a form for another one. */
function ProviderKeyForms({ keys, onConnected }: { keys: ApiKey[]; onConnected: (found: Connected) => void }) {
  const onWorks = (tried: Required<Tried>) => onConnected(connectedBy(tried));
  return (
    <>
      <ConnectedKeys keys={keys} onWorks={onWorks} />
      {keys.length > 0 && <span className="t-13 t-500">{say("otherKey")}</span>}
      <KeyForm onWorks={onWorks} />
    </>
  );
}

const Continue = ({ model, onDone }: { model?: string; onDone: (model: string) => void }) => (
  <div className="row">
    <Button
      className={`push ${style.tall}`}
      disabled={!model}
      onClick={() => model && onDone(model)}
      rightSection={<ArrowRight size={15} />}
    >
      {model ? say("continueWith", { name: model.split("/").slice(1).join("/") }) : say("continue")}
    </Button>
  </div>
);

type SourcesProps = { probe: ModelProbe; keys: ApiKey[]; onDone: (model: string) => void; onAgain: () => void };

function Sources({ probe, keys, onDone, onAgain }: SourcesProps) {
  const embedded = probe.embedded.find((model) => model.kind === "chat");
  const isReady = embedded?.available ?? false;
  const servers = keys.filter(isServerKey);
  const providers = keys.filter((key) => !isServerKey(key));
  const [source, setSource] = useState<Source>(() => {
    // A source that was connected before stays selected.
    if (keys.length) return servers.length ? "server" : "provider";
    return isReady ? "embedded" : probe.servers.length ? "server" : "provider";
  });
  const [found, setFound] = useState<Partial<Record<Source, Connected>>>({});
  const [names, setNames] = useState<Partial<Record<Source, string>>>({});
  const connected = (of: Source) => (given: Connected) =>
    setFound((all) => ({ ...all, [of]: { ...given, models: chatModelsOf(given.models) } }));
  const other = found[source];
  const name = names[source] ?? other?.models[0];
  const model = source === "embedded" ? (isReady ? embedded?.id : undefined) : name && `${other?.provider}/${name}`;
  const testedModel = (of: Source) => {
    const given = found[of];
    const first = names[of] ?? given?.models[0];
    return given && first ? (
      <Works found={given} model={first} onModel={(value) => setNames({ ...names, [of]: value })} />
    ) : undefined;
  };
  const group = { chosen: source, onChoose: setSource };
  return (
    <>
      <fieldset className={style.choices}>
        <legend className="sr">{say("model")}</legend>
        <EmbeddedChoice {...group} model={embedded} />
        <ChoiceCard
          {...group}
          of="provider"
          icon={KeyRound}
          kind="k-model"
          title={say("provider")}
          pill={providers.length > 0 && <Pill tone="ok">{say("isConnected")}</Pill>}
          text={say("providerText")}
        >
          {testedModel("provider") ?? <ProviderKeyForms keys={providers} onConnected={connected("provider")} />}
        </ChoiceCard>
        <ChoiceCard
          {...group}
          of="server"
          icon={Server}
          kind="k-flow"
          title={say("server")}
          pill={
            servers.length ? (
              <Pill tone="ok">{say("isConnected")}</Pill>
            ) : (
              probe.servers[0] && <Pill tone="run">{say("foundAt", { host: hostOf(probe.servers[0].base_url) })}</Pill>
            )
          }
          text={say("serverText")}
        >
          {testedModel("server") ?? (
            <OwnServer probe={probe} keys={servers} onConnected={connected("server")} onAgain={onAgain} />
          )}
        </ChoiceCard>
      </fieldset>
      <Continue model={model} onDone={onDone} />
    </>
  );
}

export function ModelStep({ onDone }: { onDone: (model: string) => void }) {
  const { data: probe, error, refetch } = useQuery(probeQuery);
  const keys = useQuery(providerKeysQuery);
  return (
    <Card title={say("modelTitle")} text={say("modelText")}>
      {error && !probe ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : probe && !keys.isPending ? (
        <Sources
          probe={probe}
          keys={keys.data?.data.filter((key) => key.is_active) ?? []}
          onDone={onDone}
          onAgain={() => void refetch()}
        />
      ) : (
        <RowsLoading rows={3} columns={[28, 300]} />
      )}
    </Card>
  );
}
