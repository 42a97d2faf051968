import RotateCw from "icon:rotate-cw";
import { Button } from "@mantine/core";
import { asApiError } from "../../api/errors";
import type { components } from "../../api/schema";
import { createTranslator } from "../../shared/i18n/words";
import { KindIcon } from "../../shared/marks/kind_icon";
import { StatusLabel } from "../../shared/marks/status";
import { providerNameOf } from "../../shared/providers/providers";
import {
  createProviderKey,
  type FoundServer,
  type ModelProbe,
  useProviderKeyChange,
} from "../../shared/providers/queries";
import { describeProbeReason } from "../../shared/providers/server_words";
import { translateSentence } from "../../shared/sentences/sentences";
import style from "./models.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/providers");
const hostOfUrl = (url: string) => new URL(url).host.replace("127.0.0.1", "localhost");

function FoundServerRow({ server }: { server: FoundServer }) {
  const host = hostOfUrl(server.base_url);
  const connect = useProviderKeyChange(createProviderKey);
  return (
    <li>
      <KindIcon kind="flow" />
      <div className="grow stack">
        <span className="row g8">
          <b className="t-500">{providerNameOf(server.provider)}</b>
          <span className="mono t-12 t-3">{host}</span>
        </span>
        <span className="t-12 t-3 cut">{server.models.join(", ")}</span>
      </div>
      {server.api_key_id ? (
        <StatusLabel tone="ok">{say("connected")}</StatusLabel>
      ) : (
        <Button
          size="xs"
          variant="default"
          loading={connect.isPending}
          aria-label={say("connectNamed", { host })}
          onClick={() => connect.mutate({ provider: server.provider, base_url: server.base_url, name: host })}
        >
          {say("connect")}
        </Button>
      )}
      {connect.error && (
        <div className={`note bad ${style.result}`} role="alert">
          {asApiError(connect.error).message}
        </div>
      )}
    </li>
  );
}

/** Model servers that answer on this machine, and how to start one. */
export function FoundServers({
  probe,
  isLooking,
  onAgain,
}: {
  probe: ModelProbe;
  isLooking: boolean;
  onAgain: () => void;
}) {
  return (
    <section className="stack g8" aria-labelledby="servers">
      <div className="row between">
        <h2 id="servers" className="t-sec">
          {say("servers")}
        </h2>
        {probe.is_searched && (
          <Button size="xs" variant="subtle" leftSection={<RotateCw size={13} />} loading={isLooking} onClick={onAgain}>
            {say("lookAgain")}
          </Button>
        )}
      </div>
      {probe.servers.length ? (
        <ul className={`card ${style.rows}`}>
          {probe.servers.map((server) => (
            <FoundServerRow key={server.base_url} server={server} />
          ))}
        </ul>
      ) : (
        <div className={style.ways}>
          <div className={`card ${style.way}`}>
            <b className="t-500">{say("ollamaTitle")}</b>
            <span className="t-13 t-2">{say(probe.is_searched ? "ollamaText" : "notSearched")}</span>
            <code className={style.command}>ollama run llama3.2</code>
          </div>
          <div className={`card ${style.way}`}>
            <b className="t-500">{say("providerTitle")}</b>
            <span className="t-13 t-2">{say("providerText")}</span>
          </div>
        </div>
      )}
    </section>
  );
}

type EmbeddedModel = components["schemas"]["EmbeddedModelOut"];

/** What runs inside the server, what it is for, and what it lacks. */
export function EmbeddedModels({ models }: { models: EmbeddedModel[] }) {
  return (
    <section className="stack g8" aria-labelledby="embedded">
      <h2 id="embedded" className="t-sec">
        {say("embedded")}
      </h2>
      <ul className={`card ${style.rows}`}>
        {models.map((model) => (
          <li key={model.id}>
            <KindIcon kind="know" />
            <div className="grow stack">
              <span className="row g8 wrap">
                <b className="t-500">{translateSentence(model.name)}</b>
                <span className="mono t-12 t-3">{model.id}</span>
              </span>
              <span className="t-12 t-3">
                {describeProbeReason(model.reason) ??
                  say(model.is_demo ? "demo" : model.kind, { tokens: model.context_window ?? 0 })}
              </span>
            </div>
            <StatusLabel tone={model.available ? "ok" : "warn"}>
              {say(model.available ? "ready" : "missing")}
            </StatusLabel>
          </li>
        ))}
      </ul>
    </section>
  );
}
