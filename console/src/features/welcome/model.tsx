import ArrowRight from "icon:arrow-right";
import Check from "icon:check";
import Cpu from "icon:cpu";
import KeyRound from "icon:key-round";
import RotateCw from "icon:rotate-cw";
import Server from "icon:server";
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { ProviderKeyForm } from "../../shared/providers/key_form";
import { providerNameOf } from "../../shared/providers/providers";
import {
  type ApiKey,
  createProviderKey,
  type FoundServer,
  findServerKey,
  type ModelProbe,
  probeQuery,
  providerKeysQuery,
  type Tried,
  useProviderKeyChange,
} from "../../shared/providers/queries";
import { ModelServerForm } from "../../shared/providers/server_form";
import { describeProbeReason } from "../../shared/providers/server_words";
import { translateSentence } from "../../shared/sentences/sentences";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { WelcomeCard } from "./card";
import { ChoiceCard, type Source } from "./choice";
import { ConnectedKeys, isServerKey } from "./connected_keys";
import { filterChatModels, sourceOfModel } from "./model_source";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");
type Connected = { provider: string; models: string[]; ms?: number; hasSecret?: boolean };
const toConnectedModel = ({ key, test }: Required<Tried>): Connected => ({
  provider: key.provider,
  models: test.models,
  ms: test.latency_ms,
  hasSecret: Boolean(key.key_prefix),
});

const hostOfUrl = (url: string) => new URL(url).host.replace("127.0.0.1", "localhost");

/** One press connects a found server: it needs no secret. */
function FoundServerList({
  servers,
  onConnected,
}: {
  servers: FoundServer[];
  onConnected: (found: Connected) => void;
}) {
  const connect = useProviderKeyChange(async ({ provider, base_url, models, api_key_id }: FoundServer) => {
    if (!api_key_id) await createProviderKey({ provider, base_url, name: hostOfUrl(base_url) });
    return onConnected({ provider, models });
  });
  return (
    <>
      {servers.map((server) => (
        <div className="row g8" key={server.base_url}>
          <span className="grow stack">
            <span className="mono t-13">{hostOfUrl(server.base_url)}</span>
            <span className="t-12 t-3 cut">{server.models.join(", ")}</span>
          </span>
          <Button variant="default" size="xs" loading={connect.isPending} onClick={() => connect.mutate(server)}>
            {say("connect", { host: hostOfUrl(server.base_url) })}
          </Button>
        </div>
      ))}
      <RefusalNote error={connect.error} />
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
function OwnServerForm({ probe, keys, onConnected, onAgain }: OwnServerProps) {
  const onWorks = (tried: Required<Tried>) => onConnected(toConnectedModel(tried));
  const others = probe.servers.filter((server) => !findServerKey(keys, server));
  return (
    <>
      <ConnectedKeys keys={keys} onWorks={onWorks} />
      {others.length > 0 && <FoundServerList servers={others} onConnected={onConnected} />}
      {probe.servers.length === 0 && keys.length === 0 && probe.is_searched && (
        <div className="row g8 wrap">
          <span className="t-13 t-2 grow">{say("noServer")}</span>
          <Button variant="default" size="xs" leftSection={<RotateCw size={13} />} onClick={onAgain}>
            {say("lookAgain")}
          </Button>
        </div>
      )}
      <span className="t-13 t-500">{say("otherServer")}</span>
      <ModelServerForm onWorks={onWorks} />
    </>
  );
}

function WorkingModel({
  found,
  model,
  onModel,
}: {
  found: Connected;
  model: string;
  onModel: (model: string) => void;
}) {
  return (
    <>
      <div className="note ok" role="status">
        <Check size={15} />
        {say(found.ms === undefined ? "connected" : found.hasSecret ? "keyWorks" : "serverConnected", {
          provider: providerNameOf(found.provider),
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

type Group = { chosen: Source; onChoose: (source: Source) => void };

/** The model that the server brings. */
function EmbeddedChoice({ model, ...group }: Group & { model?: ModelProbe["embedded"][number] }) {
  const isReady = model?.available ?? false;
  return (
    <ChoiceCard
      {...group}
      source="embedded"
      icon={Cpu}
      kind="k-know"
      title={say("embedded")}
      disabled={!isReady}
      pill={
        isReady ? (
          <StatusPill tone="ok">{say("ready")}</StatusPill>
        ) : (
          <StatusPill tone="warn">{say("notThere")}</StatusPill>
        )
      }
      text={
        isReady
          ? say(model?.is_demo ? "embeddedText" : "ownText", { name: translateSentence(model?.name ?? "") })
          : (describeProbeReason(model?.reason) ?? say("notThere"))
      }
    />
  );
}

/** Keys that are there already, and a form for another one. */
function ProviderKeyForms({ keys, onConnected }: { keys: ApiKey[]; onConnected: (found: Connected) => void }) {
  const onWorks = (tried: Required<Tried>) => onConnected(toConnectedModel(tried));
  return (
    <>
      <ConnectedKeys keys={keys} onWorks={onWorks} />
      {keys.length > 0 && <span className="t-13 t-500">{say("otherKey")}</span>}
      <ProviderKeyForm onWorks={onWorks} />
    </>
  );
}

const ContinueButton = ({ model, onDone }: { model?: string; onDone: (model: string) => void }) => (
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

type SourcesProps = {
  probe: ModelProbe;
  keys: ApiKey[];
  /** The one that was chosen before somebody came back. */
  chosenModel?: string;
  onDone: (model: string) => void;
  onAgain: () => void;
};

function ModelSources({ probe, keys, chosenModel, onDone, onAgain }: SourcesProps) {
  const embedded = probe.embedded.find((model) => model.kind === "chat");
  const isReady = embedded?.available ?? false;
  const chosenSource = chosenModel && sourceOfModel(chosenModel);
  const servers = keys.filter(isServerKey);
  const providers = keys.filter((key) => !isServerKey(key));
  const [source, setSource] = useState<Source>(() => {
    // A source that was chosen or connected before stays selected.
    if (chosenSource && (chosenSource !== "embedded" || isReady)) return chosenSource;
    if (keys.length) return servers.length ? "server" : "provider";
    return isReady ? "embedded" : probe.servers.length ? "server" : "provider";
  });
  const [found, setFound] = useState<Partial<Record<Source, Connected>>>({});
  const [names, setNames] = useState<Partial<Record<Source, string>>>({});
  const findConnected = (chosenSource: Source) => (guess: Connected) =>
    setFound((all) => ({ ...all, [chosenSource]: { ...guess, models: filterChatModels(guess.models) } }));
  const other = found[source];
  const name = names[source] ?? other?.models[0];
  const before = source === chosenSource ? chosenModel : undefined;
  const model =
    source === "embedded" ? (isReady ? embedded?.id : undefined) : name ? `${other?.provider}/${name}` : before;
  const findTestedModel = (chosenSource: Source) => {
    const given = found[chosenSource];
    const first = names[chosenSource] ?? given?.models[0];
    return given && first ? (
      <WorkingModel found={given} model={first} onModel={(value) => setNames({ ...names, [chosenSource]: value })} />
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
          source="provider"
          icon={KeyRound}
          kind="k-model"
          title={say("provider")}
          pill={providers.length > 0 && <StatusPill tone="ok">{say("isConnected")}</StatusPill>}
          text={say("providerText")}
        >
          {findTestedModel("provider") ?? <ProviderKeyForms keys={providers} onConnected={findConnected("provider")} />}
        </ChoiceCard>
        <ChoiceCard
          {...group}
          source="server"
          icon={Server}
          kind="k-flow"
          title={say("server")}
          pill={
            servers.length ? (
              <StatusPill tone="ok">{say("isConnected")}</StatusPill>
            ) : (
              probe.servers[0] && (
                <StatusPill tone="run">{say("foundAt", { host: hostOfUrl(probe.servers[0].base_url) })}</StatusPill>
              )
            )
          }
          text={say("serverText")}
        >
          {findTestedModel("server") ?? (
            <OwnServerForm probe={probe} keys={servers} onConnected={findConnected("server")} onAgain={onAgain} />
          )}
        </ChoiceCard>
      </fieldset>
      <ContinueButton model={model} onDone={onDone} />
    </>
  );
}

type StepProps = { chosenModel?: string; onDone: (model: string) => void };

export function ModelStep({ chosenModel, onDone }: StepProps) {
  const { data: probe, error, refetch } = useQuery(probeQuery);
  const keys = useQuery(providerKeysQuery);
  const isOneThere = probe?.embedded.some((model) => model.kind === "chat" && model.available);
  return (
    <WelcomeCard title={say("modelTitle")} text={say(isOneThere ? "modelText" : "modelTextNone")}>
      {error && !probe ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : probe && !keys.isPending ? (
        <ModelSources
          probe={probe}
          keys={keys.data?.data.filter((key) => key.is_active) ?? []}
          chosenModel={chosenModel}
          onDone={onDone}
          onAgain={() => void refetch()}
        />
      ) : (
        <RowSkeletons rows={3} columns={[28, 300]} />
      )}
    </WelcomeCard>
  );
}
