import Plus from "icon:plus";
import { Button, Modal, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { KeyForm } from "../../shared/providers/key_form";
import { PriceForm } from "../../shared/providers/price_form";
import { providerName } from "../../shared/providers/providers";
import { isPaidByTokens, modelListQuery, probeQuery, providerKeysQuery } from "../../shared/providers/queries";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Catalogue } from "./catalogue";
import type { ModelFilters } from "./filters";
import { ProviderKeys } from "./keys";
import style from "./models.module.css";
import { Embedded, Servers } from "./this_machine";
import en from "./words.en.json";

const say = words(en, "features/providers");

type Works = { text: string; provider: string; models: string[] };

function AddKey({ onClose }: { onClose: () => void }) {
  const [works, setWorks] = useState<Works>();
  return (
    <Modal opened onClose={onClose} title={say("addTitle")} size={480}>
      <div className="stack g16">
        {works ? (
          <>
            <div className="note ok" role="status">
              {works.text}
            </div>
            <Unpriced provider={works.provider} names={works.models} />
            <Button className="push" onClick={onClose}>
              {say("done")}
            </Button>
          </>
        ) : (
          <KeyForm
            label={say("addAndTest")}
            onWorks={({ key, test }) =>
              setWorks({
                text: say("works", {
                  name: providerName(key.provider),
                  count: test.models.length,
                  ms: test.latency_ms,
                }),
                provider: key.provider,
                models: test.models,
              })
            }
          />
        )}
      </div>
    </Modal>
  );
}

/** The models of a new key whose price nobody knows: what they cost is entered here, or later in the list. */
function Unpriced({ provider, names }: { provider: string; names: string[] }) {
  const may = useMay();
  const { data } = useQuery(modelListQuery);
  const [chosen, setChosen] = useState<string>();
  const ids = new Set(names.map((name) => `${provider}/${name}`));
  const unpriced = (data?.data ?? []).filter(
    (one) => ids.has(one.id) && isPaidByTokens(one) && one.input_price_per_mtok === null,
  );
  const model = unpriced.find((one) => one.id === chosen) ?? unpriced[0];
  if (!may("usage:write") || !model) return null;
  return (
    <section className="stack g8" aria-label={say("unpriced", { count: unpriced.length })}>
      <span className="t-13 t-2">{say("unpriced", { count: unpriced.length })}</span>
      <Select
        label={say("model")}
        searchable
        data={unpriced.map((one) => ({ value: one.id, label: one.id }))}
        value={model.id}
        onChange={(id) => setChosen(id ?? undefined)}
      />
      <PriceForm key={model.id} of={model} onDone={() => setChosen(undefined)} />
    </section>
  );
}

/** Who does the thinking: the keys of providers, servers on this machine, the embedded models, and all models. */
export default function Models() {
  const filters = useSearch({ from: "/frame/models" });
  const navigate = useNavigate();
  const may = useMay();
  const canWrite = may("api_keys:write");
  const keys = useQuery(providerKeysQuery);
  const probe = useQuery({ ...probeQuery, enabled: canWrite });
  const set = (change: ModelFilters) =>
    void navigate({ to: "/models", search: { ...filters, ...change }, replace: true });
  const add = () => set({ add: true });
  useKeys(canWrite ? { c: add } : {});
  return (
    <>
      <Bar title={say("title")}>
        {canWrite && (
          <Button leftSection={<Plus size={14} />} onClick={add}>
            {say("add")}
          </Button>
        )}
      </Bar>
      <div className={style.sheet}>
        <section className="stack g8" aria-labelledby="keys">
          <h2 id="keys" className="t-sec">
            {say("keys")}
          </h2>
          {keys.error && !keys.data ? (
            <Failure error={keys.error} onRetry={() => void keys.refetch()} />
          ) : keys.data ? (
            <ProviderKeys keys={keys.data.data} canWrite={canWrite} onAdd={add} />
          ) : (
            <RowsLoading rows={2} columns={[28, 300, 96]} />
          )}
        </section>
        {probe.data && <Servers probe={probe.data} isLooking={probe.isFetching} onAgain={() => void probe.refetch()} />}
        {probe.data && <Embedded models={probe.data.embedded} />}
        <Catalogue filters={filters} onChange={set} />
      </div>
      {filters.add && canWrite && <AddKey onClose={() => set({ add: undefined })} />}
    </>
  );
}
