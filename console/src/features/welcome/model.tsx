import ArrowRight from "icon:arrow-right";
import Check from "icon:check";
import Cpu from "icon:cpu";
import KeyRound from "icon:key-round";
import RotateCw from "icon:rotate-cw";
import Server from "icon:server";
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ComponentType, type ReactNode, useState } from "react";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { Pill } from "../../shared/parts";
import { KeyForm } from "../../shared/providers/key_form";
import { isChatModel, providerName } from "../../shared/providers/providers";
import { createKey, type FoundServer, type ModelProbe, probeQuery, useKeyChange } from "../../shared/providers/queries";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Card } from "./card";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = words(en, "features/welcome");
type Source = "embedded" | "provider" | "server";
type Connected = { provider: string; models: string[]; ms?: number };

function Choice({
  of,
  chosen,
  onChoose,
  icon: Icon,
  kind,
  title,
  pill,
  text,
  disabled,
  children,
}: {
  of: Source;
  chosen: Source;
  onChoose: (source: Source) => void;
  icon: ComponentType<{ size?: number }>;
  kind: string;
  title: string;
  pill?: ReactNode;
  text: string;
  disabled?: boolean;
  children?: ReactNode;
}) {
  return (
    <div className={style.choice} data-on={chosen === of || undefined}>
      <label>
        <input
          type="radio"
          name="model"
          checked={chosen === of}
          disabled={disabled}
          onChange={() => onChoose(of)}
          aria-describedby={`about-${of}`}
          aria-label={title}
        />
        <span className={`kind ${kind}`}>
          <Icon size={16} />
        </span>
        <span className="stack grow">
          <span className="row g8 wrap">
            <b className="t-500">{title}</b>
            {pill}
          </span>
          <span className="t-13 t-2" id={`about-${of}`}>
            {text}
          </span>
        </span>
      </label>
      {chosen === of && children && <div className={style.more}>{children}</div>}
    </div>
  );
}

const hostOf = (url: string) => new URL(url).host.replace("127.0.0.1", "localhost");

/** One press connects a found server: it needs no secret. */
function Servers({ servers, onConnected }: { servers: FoundServer[]; onConnected: (found: Connected) => void }) {
  const connect = useKeyChange(async ({ provider, base_url, models, api_key_id }: FoundServer) => {
    if (!api_key_id) await createKey({ provider, base_url, name: hostOf(base_url) });
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

function Works({ found, model, onModel }: { found: Connected; model: string; onModel: (model: string) => void }) {
  return (
    <>
      <div className="note ok" role="status">
        <Check size={15} />
        {say(found.ms === undefined ? "connected" : "keyWorks", {
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

const talking = (models: string[]) => {
  const chat = models.filter(isChatModel);
  return chat.length ? chat : models;
};

function Sources({
  probe,
  onDone,
  onAgain,
}: {
  probe: ModelProbe;
  onDone: (model: string) => void;
  onAgain: () => void;
}) {
  const embedded = probe.embedded.find((model) => model.kind === "chat");
  const isReady = embedded?.available ?? false;
  const [source, setSource] = useState<Source>(isReady ? "embedded" : probe.servers.length ? "server" : "provider");
  const [found, setFound] = useState<Partial<Record<Source, Connected>>>({});
  const [names, setNames] = useState<Partial<Record<Source, string>>>({});
  const connected = (of: Source) => (given: Connected) =>
    setFound((all) => ({ ...all, [of]: { ...given, models: talking(given.models) } }));
  const other = found[source];
  const name = names[source] ?? other?.models[0];
  const model = source === "embedded" ? (isReady ? embedded?.id : undefined) : name && `${other?.provider}/${name}`;
  const works = (of: Source) => {
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
        <Choice
          {...group}
          of="embedded"
          icon={Cpu}
          kind="k-know"
          title={say("embedded")}
          disabled={!isReady}
          pill={isReady ? <Pill tone="ok">{say("ready")}</Pill> : <Pill tone="warn">{say("notThere")}</Pill>}
          text={
            isReady
              ? say(embedded?.is_demo ? "embeddedText" : "ownText", { name: embedded?.name ?? "" })
              : (embedded?.reason ?? say("notThere"))
          }
        />
        <Choice
          {...group}
          of="provider"
          icon={KeyRound}
          kind="k-model"
          title={say("provider")}
          text={say("providerText")}
        >
          {works("provider") ?? (
            <KeyForm
              onWorks={({ key, test }) =>
                connected("provider")({ provider: key.provider, models: test.models, ms: test.latency_ms })
              }
            />
          )}
        </Choice>
        <Choice
          {...group}
          of="server"
          icon={Server}
          kind="k-flow"
          title={say("server")}
          pill={
            probe.servers[0] && <Pill tone="run">{say("foundAt", { host: hostOf(probe.servers[0].base_url) })}</Pill>
          }
          text={say("serverText")}
        >
          {works("server") ??
            (probe.servers.length ? (
              <Servers servers={probe.servers} onConnected={connected("server")} />
            ) : (
              <div className="row g8 wrap">
                <span className="t-13 t-2 grow">{say(probe.is_searched ? "noServer" : "notSearched")}</span>
                {probe.is_searched && (
                  <Button variant="default" size="xs" leftSection={<RotateCw size={13} />} onClick={onAgain}>
                    {say("lookAgain")}
                  </Button>
                )}
              </div>
            ))}
        </Choice>
      </fieldset>
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
    </>
  );
}

export function ModelStep({ onDone }: { onDone: (model: string) => void }) {
  const { data: probe, error, refetch } = useQuery(probeQuery);
  return (
    <Card title={say("modelTitle")} text={say("modelText")}>
      {error && !probe ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : probe ? (
        <Sources probe={probe} onDone={onDone} onAgain={() => void refetch()} />
      ) : (
        <RowsLoading rows={3} columns={[28, 300]} />
      )}
    </Card>
  );
}
