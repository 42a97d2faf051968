import Search from "icon:search";
import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Pill, Status } from "../../shared/parts";
import { type Model, modelListQuery } from "../../shared/providers/queries";
import { Empty, Failure, RowsLoading } from "../../shared/states/states";
import { money } from "../../shared/time";
import { filterModels, type ModelFilters, SHOWN } from "./filters";
import style from "./models.module.css";
import en from "./words.en.json";

const say = words(en, "features/providers");
const MAX_ROWS = 200;
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 0 });

const price = (of: Model) => {
  if (of.input_price_per_mtok === null && of.output_price_per_mtok === null) return say("unknown");
  if (!of.input_price_per_mtok && !of.output_price_per_mtok) return say("free");
  return `${money(of.input_price_per_mtok ?? 0)} / ${money(of.output_price_per_mtok ?? 0)}`;
};

const reasonOf = (model: Model) => (model.reason === "found_server" ? say("foundServer") : model.reason);

function Table({ models }: { models: Model[] }) {
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
                  {model.supports_tools && <Pill>{say("tools")}</Pill>}
                  {model.supports_vision && <Pill>{say("vision")}</Pill>}
                  {model.supports_streaming && <Pill>{say("streaming")}</Pill>}
                </span>
              </td>
              <td className="wide num t-2">{price(model)}</td>
              <td>
                <Status tone={model.available ? "ok" : "idle"}>
                  {model.available ? say("usable") : reasonOf(model)}
                </Status>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** All models, with what they can do and cost. */
export function Catalogue({ filters, onChange }: { filters: ModelFilters; onChange: (change: ModelFilters) => void }) {
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
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !found ? (
        <RowsLoading rows={4} columns={[240, 100]} />
      ) : found.length ? (
        <Table models={found.slice(0, MAX_ROWS)} />
      ) : (
        <Empty
          title={say("noMatchTitle")}
          actions={
            <Button variant="default" onClick={() => onChange({ search: undefined, show: "all" })}>
              {say("showAll")}
            </Button>
          }
        >
          {say("noMatch")}
        </Empty>
      )}
      {found && found.length > MAX_ROWS && (
        <span className="t-12 t-3">{say("more", { count: found.length - MAX_ROWS })}</span>
      )}
    </section>
  );
}
