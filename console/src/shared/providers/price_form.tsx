import { Button, NumberInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, unwrapData } from "../../api/client";
import { createTranslator } from "../i18n/words";
import { moneySign } from "../time";
import { useFieldProblems } from "../use_fields";
import style from "./key_form.module.css";
import type { ChatModel } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "shared/providers");
const MAX_PRICE = 100_000;
export type PricedModel = Pick<
  ChatModel,
  | "id"
  | "input_price_per_mtok"
  | "output_price_per_mtok"
  | "cached_input_price_per_mtok"
  | "cache_write_price_per_mtok"
  | "source"
>;
type Amount = number | string;
const isPriceAmount = (amount: Amount) => amount !== "" && Number.isFinite(Number(amount)) && Number(amount) >= 0;

/** Prices of cached tokens that were set for this organization; a new price replaces them, so they are sent along. */
export const readCachePrices = ({ source, cached_input_price_per_mtok, cache_write_price_per_mtok }: PricedModel) =>
  source === "tenant" ? { cached_input_price_per_mtok, cache_write_price_per_mtok } : {};

/** What a million tokens of a model cost; without it, costs and budgets in dollars cannot count the model. */
export function ModelPriceForm({ model, onDone }: { model: PricedModel; onDone: () => void }) {
  const client = useQueryClient();
  const [input, setInput] = useState<Amount>(model.input_price_per_mtok ?? "");
  const [output, setOutput] = useState<Amount>(model.output_price_per_mtok ?? "");
  const finishPricing = () => {
    void client.invalidateQueries({ queryKey: ["providers"] });
    onDone();
  };
  const save = useMutation({
    mutationFn: () =>
      unwrapData(
        api.PUT("/api/v1/model-prices", {
          body: {
            model: model.id,
            input_price_per_mtok: Number(input),
            output_price_per_mtok: Number(output),
            ...readCachePrices(model),
            scope: "tenant",
          },
        }),
      ),
    onSuccess: finishPricing,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE("/api/v1/model-prices", { params: { query: { model: model.id, scope: "tenant" } } }),
    onSuccess: finishPricing,
  });
  const { form, rest, problemOf } = useFieldProblems(save.error ?? remove.error, [
    "input_price_per_mtok",
    "output_price_per_mtok",
  ]);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    save.mutate();
  };
  const shared = { min: 0, max: MAX_PRICE, decimalScale: 6, ...moneySign };
  return (
    <form className={`${style.form} ${style.halves}`} ref={form} onSubmit={handleSubmit}>
      {rest && (
        <div className={`note bad ${style.wide}`} role="alert">
          {rest}
        </div>
      )}
      <NumberInput
        {...shared}
        label={say("priceInput")}
        data-autofocus
        error={problemOf("input_price_per_mtok")}
        value={input}
        onChange={setInput}
      />
      <NumberInput
        {...shared}
        label={say("priceOutput")}
        error={problemOf("output_price_per_mtok")}
        value={output}
        onChange={setOutput}
      />
      <span className={`t-12 t-3 ${style.wide}`}>{say("priceText")}</span>
      <div className={`row g8 wrap ${style.wide}`}>
        {model.source === "tenant" && (
          <Button size="xs" variant="default" loading={remove.isPending} onClick={() => remove.mutate()}>
            {say("priceRemove")}
          </Button>
        )}
        <Button
          size="xs"
          type="submit"
          className="push"
          loading={save.isPending}
          disabled={!isPriceAmount(input) || !isPriceAmount(output)}
        >
          {say("priceSave")}
        </Button>
      </div>
    </form>
  );
}
