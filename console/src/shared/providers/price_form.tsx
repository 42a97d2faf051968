import { Button, NumberInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { words } from "../i18n/words";
import { useFields } from "../use_fields";
import style from "./key_form.module.css";
import type { ChatModel } from "./queries";
import en from "./words.en.json";

const say = words(en, "shared/providers");
const MAX_PRICE = 100_000;
type Priced = Pick<
  ChatModel,
  | "id"
  | "input_price_per_mtok"
  | "output_price_per_mtok"
  | "cached_input_price_per_mtok"
  | "cache_write_price_per_mtok"
  | "source"
>;
type Amount = number | string;
const isPrice = (amount: Amount) => amount !== "" && Number.isFinite(Number(amount)) && Number(amount) >= 0;

/** Prices of cached tokens that were set for this organization; a new price replaces them, so they are sent along. */
export const cachePricesOf = ({ source, cached_input_price_per_mtok, cache_write_price_per_mtok }: Priced) =>
  source === "tenant" ? { cached_input_price_per_mtok, cache_write_price_per_mtok } : {};

/** What a million tokens of a model cost; without it, costs and budgets in dollars cannot count the model. */
export function PriceForm({ of: model, onDone }: { of: Priced; onDone: () => void }) {
  const client = useQueryClient();
  const [input, setInput] = useState<Amount>(model.input_price_per_mtok ?? "");
  const [output, setOutput] = useState<Amount>(model.output_price_per_mtok ?? "");
  const done = () => {
    void client.invalidateQueries({ queryKey: ["providers"] });
    onDone();
  };
  const save = useMutation({
    mutationFn: () =>
      data(
        api.PUT("/api/v1/model-prices", {
          body: {
            model: model.id,
            input_price_per_mtok: Number(input),
            output_price_per_mtok: Number(output),
            ...cachePricesOf(model),
            scope: "tenant",
          },
        }),
      ),
    onSuccess: done,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE("/api/v1/model-prices", { params: { query: { model: model.id, scope: "tenant" } } }),
    onSuccess: done,
  });
  const { form, rest, problemOf } = useFields(save.error ?? remove.error, [
    "input_price_per_mtok",
    "output_price_per_mtok",
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    save.mutate();
  };
  const shared = { min: 0, max: MAX_PRICE, decimalScale: 6, prefix: "$" };
  return (
    <form className={`${style.form} ${style.halves}`} ref={form} onSubmit={submit}>
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
          disabled={!isPrice(input) || !isPrice(output)}
        >
          {say("priceSave")}
        </Button>
      </div>
    </form>
  );
}
