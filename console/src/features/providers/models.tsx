import Plus from "icon:plus";
import { Button, Modal, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { ProviderKeyForm } from "../../shared/providers/key_form";
import { ModelPriceForm } from "../../shared/providers/price_form";
import { providerNameOf } from "../../shared/providers/providers";
import { isPricedByTokens, modelListQuery, probeQuery, providerKeysQuery } from "../../shared/providers/queries";
import { SettingsPage } from "../../shared/settings/settings_page";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { ModelCatalogue } from "./catalogue";
import type { ModelFilters } from "./filters";
import { ProviderKeyList } from "./keys";
import style from "./models.module.css";
import { EmbeddedModels, FoundServers } from "./this_machine";
import en from "./words.en.json";

const say = createTranslator(en, "features/providers");

type Works = { text: string; provider: string; models: string[] };

function AddKeyDialog({ onClose }: { onClose: () => void }) {
  const [works, setWorks] = useState<Works>();
  return (
    <Modal opened onClose={onClose} title={say("addTitle")} size={480}>
      <div className="stack g16">
        {works ? (
          <>
            <div className="note ok" role="status">
              {works.text}
            </div>
            <UnpricedNote provider={works.provider} names={works.models} />
            <Button className="push" onClick={onClose}>
              {say("done")}
            </Button>
          </>
        ) : (
          <ProviderKeyForm
            label={say("addAndTest")}
            onWorks={({ key, test }) =>
              setWorks({
                text: say("works", {
                  name: providerNameOf(key.provider),
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
function UnpricedNote({ provider, names }: { provider: string; names: string[] }) {
  const may = usePermissionCheck();
  const { data } = useQuery(modelListQuery);
  const [chosen, setChosen] = useState<string>();
  const ids = new Set(names.map((name) => `${provider}/${name}`));
  const unpriced = (data?.data ?? []).filter(
    (one) => ids.has(one.id) && isPricedByTokens(one) && one.input_price_per_mtok === null,
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
      <ModelPriceForm key={model.id} model={model} onDone={() => setChosen(undefined)} />
    </section>
  );
}

/** Who does the thinking: the keys of providers, servers on this machine, the embedded models, and all models. */
export default function ModelsPage() {
  const filters = useSearch({ from: "/frame/settings/models" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const canWrite = may("api_keys:write");
  const keys = useQuery(providerKeysQuery);
  const probe = useQuery({ ...probeQuery, enabled: canWrite });
  const changeFilters = (change: ModelFilters) =>
    void navigate({ to: "/settings/models", search: { ...filters, ...change }, replace: true });
  const openAddDialog = () => changeFilters({ add: true });
  usePageCommands(canWrite ? [{ label: say("add"), keys: "c", run: openAddDialog }] : []);
  return (
    <SettingsPage
      tab="models"
      actions={
        canWrite && (
          <Button leftSection={<Plus size={14} />} onClick={openAddDialog}>
            {say("add")}
          </Button>
        )
      }
    >
      <div className={style.sheet}>
        <section className="stack g8" aria-labelledby="keys">
          <h2 id="keys" className="t-sec">
            {say("keys")}
          </h2>
          {keys.error && !keys.data ? (
            <FailureState error={keys.error} onRetry={() => void keys.refetch()} />
          ) : keys.data ? (
            <ProviderKeyList keys={keys.data.data} canWrite={canWrite} onAdd={openAddDialog} />
          ) : (
            <RowSkeletons rows={2} columns={[28, 300, 96]} />
          )}
        </section>
        {probe.data && (
          <FoundServers probe={probe.data} isLooking={probe.isFetching} onAgain={() => void probe.refetch()} />
        )}
        {probe.data && <EmbeddedModels models={probe.data.embedded} />}
        <ModelCatalogue filters={filters} onChange={changeFilters} />
      </div>
      {filters.add && canWrite && <AddKeyDialog onClose={() => changeFilters({ add: undefined })} />}
    </SettingsPage>
  );
}
