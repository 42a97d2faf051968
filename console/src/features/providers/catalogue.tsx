import Pencil from "icon:pencil";
import Search from "icon:search";
import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePermissionCheck } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel, StatusPill } from "../../shared/marks/status";
import { ModelPriceEditor } from "../../shared/providers/price_editor";
import { type ChatModel, isPricedByTokens, modelListQuery } from "../../shared/providers/queries";
import { describeProbeReason } from "../../shared/providers/server_words";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatMoney } from "../../shared/time";
import { type ModelFilters, SHOWN } from "./filters";
import { filterModels } from "./model_filter";
import style from "./models.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/providers");
const MAX_ROWS = 200;
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 0 });

const formatModelPrice = (model: ChatModel) => {
  if (model.input_price_per_mtok === null && model.output_price_per_mtok === null) return say("unknown");
  if (!model.input_price_per_mtok && !model.output_price_per_mtok) return say("free");
  return `${formatMoney(model.input_price_per_mtok ?? 0)} / ${formatMoney(model.output_price_per_mtok ?? 0)}`;
};

const describeUnusable = (model: ChatModel) =>
  model.reason === "found_server" ? say("foundServer") : describeProbeReason(model.reason);

/** The price of a model, editable with the permission where it is missing or set by hand. */
function ModelPrice({ model }: { model: ChatModel }) {
  const may = usePermissionCheck();
  if (!may("usage:write") || model.provider === "local" || !isPricedByTokens(model)) return formatModelPrice(model);
  return (
    <ModelPriceEditor model={model} title={say("priceTitle", { name: model.name })}>
      {(toggle) => (
        <button
          type="button"
          className={style.price}
          aria-label={say("priceOf", { name: model.id, price: formatModelPrice(model) })}
          onClick={toggle}
        >
          {formatModelPrice(model)}
          <Pencil size={12} />
        </button>
      )}
    </ModelPriceEditor>
  );
}

function ModelTable({ models }: { models: ChatModel[] }) {
  return (
    <div className={`card scroll-x ${style.box}`}>
      <table className="table boxed">
        <caption className="sr">{say("models")}</caption>
        <thead>
          <tr>
            <th>{say("model")}</th>
            <th className="wide num">{say("context")}</th>
            <th className="wide">{say("abilities")}</th>
            <th className="wide num" title={say("priceHint")}>
              {say("price")}
            </th>
            <th>{say("state")}</th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model.id}>
              <td>
                <span className={`mono t-12 cut ${style.model}`} title={model.name}>
                  {model.id}
                </span>
              </td>
              <td className="wide num t-2">{model.context_window ? compact.format(model.context_window) : "–"}</td>
              <td className="wide">
                <span className="row g4">
                  {model.supports_tools && <StatusPill>{say("tools")}</StatusPill>}
                  {model.supports_vision && <StatusPill>{say("vision")}</StatusPill>}
                  {model.supports_streaming && <StatusPill>{say("streaming")}</StatusPill>}
                </span>
              </td>
              <td className="wide num t-2">
                <ModelPrice model={model} />
              </td>
              <td>
                <StatusLabel tone={model.available ? "ok" : "idle"}>
                  {model.available ? say("usable") : describeUnusable(model)}
                </StatusLabel>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** All models, with what they can do and cost. */
export function ModelCatalogue({
  filters,
  onChange,
}: {
  filters: ModelFilters;
  onChange: (change: ModelFilters) => void;
}) {
  const { data, error, refetch } = useQuery(modelListQuery);
  const found = data && filterModels(data.data, filters);
  return (
    <section className="stack g8" aria-labelledby="models">
      <div className="row between wrap g8">
        <h2 id="models" className="t-sec">
          {say("models")} {found && <span className="t-3 num t-13">{found.length}</span>}
        </h2>
        <span className="row g8 wrap">
          <TextInput
            size="xs"
            className={style.find}
            leftSection={<Search size={14} />}
            placeholder={say("find")}
            aria-label={say("find")}
            value={filters.search ?? ""}
            onChange={(event) => onChange({ search: event.currentTarget.value || undefined })}
          />
          <SegmentedControl
            aria-label={say("show")}
            data={SHOWN.map((value) => ({ value, label: say(`show_${value}`) }))}
            value={filters.show ?? "usable"}
            onChange={(show) => onChange({ show: show === "all" ? "all" : undefined })}
          />
        </span>
      </div>
      {error && !found ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : !found ? (
        <RowSkeletons rows={4} columns={[240, 100]} />
      ) : found.length ? (
        <ModelTable models={found.slice(0, MAX_ROWS)} />
      ) : (
        <EmptyState
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => onChange({ search: undefined, show: "all" })}>
              {say("showAll")}
            </Button>
          }
        >
          {say("noMatch")}
        </EmptyState>
      )}
      {found && found.length > MAX_ROWS && (
        <span className="t-12 t-3">{say("more", { count: found.length - MAX_ROWS })}</span>
      )}
    </section>
  );
}
