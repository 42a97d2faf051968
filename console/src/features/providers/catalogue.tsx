import Pencil from "icon:pencil";
import Search from "icon:search";
import { Button, Popover, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useMay } from "../../api/queries";
import { locale } from "../../shared/i18n/language";
import { words } from "../../shared/i18n/words";
import { Pill, Status } from "../../shared/marks/status";
import { PriceForm } from "../../shared/providers/price_form";
import { type ChatModel, isPaidByTokens, modelListQuery } from "../../shared/providers/queries";
import { reasonWords } from "../../shared/providers/server_words";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { money } from "../../shared/time";
import { filterModels, type ModelFilters, SHOWN } from "./filters";
import style from "./models.module.css";
import en from "./words.en.json";

const say = words(en, "features/providers");
const MAX_ROWS = 200;
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 0 });

const priceText = (of: ChatModel) => {
  if (of.input_price_per_mtok === null && of.output_price_per_mtok === null) return say("unknown");
  if (!of.input_price_per_mtok && !of.output_price_per_mtok) return say("free");
  return `${money(of.input_price_per_mtok ?? 0)} / ${money(of.output_price_per_mtok ?? 0)}`;
};

const reasonOf = (model: ChatModel) =>
  model.reason === "found_server" ? say("foundServer") : reasonWords(model.reason);

/** The price of a model, editable with the permission where it is missing or set by hand. */
function Price({ of: model }: { of: ChatModel }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  if (!may("usage:write") || model.provider === "local" || !isPaidByTokens(model)) return priceText(model);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-end" width={340} shadow="md">
      <Popover.Target>
        <button
          type="button"
          className={style.price}
          aria-label={say("priceOf", { name: model.id, price: priceText(model) })}
          onClick={() => setOpen(!isOpen)}
        >
          {priceText(model)}
          <Pencil size={12} />
        </button>
      </Popover.Target>
      <Popover.Dropdown className={style.pop} aria-label={say("priceTitle", { name: model.name })}>
        <PriceForm of={model} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Table({ models }: { models: ChatModel[] }) {
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
              <td className="wide num t-2">
                <Price of={model} />
              </td>
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
