import type { components } from "../../../api/schema";
import { language, locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { describeProbeReason } from "../../../shared/providers/server_words";
import en from "../words.en.json";

const say = createTranslator(en, "features/agents");
export type ListedModel = components["schemas"]["ModelOut"];

const dollars = new Intl.NumberFormat(language, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 0,
  maximumFractionDigits: 3,
});
const formatPricePerMillion = (usd: number) => dollars.format(usd);
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });

/** What is known of a model in one line: price, context, abilities. */
export function describeModel(model: ListedModel): string {
  if (!model.available)
    return say("unavailableBecause", { reason: describeProbeReason(model.reason) ?? say("reasonUnknown") });
  const isFree = model.input_price_per_mtok === 0 && model.output_price_per_mtok === 0;
  const parts = [
    model.input_price_per_mtok === null
      ? say("priceUnknown")
      : isFree
        ? say("priceFree")
        : say("price", {
            input: formatPricePerMillion(model.input_price_per_mtok),
            output: formatPricePerMillion(model.output_price_per_mtok ?? 0),
          }),
    model.context_window ? say("context", { tokens: compact.format(model.context_window) }) : "",
    model.supports_tools === false ? say("withoutTools") : model.supports_tools ? say("withTools") : "",
    model.supports_vision ? say("withVision") : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Names of models that think before they answer and refuse a temperature or spend a small limit on thinking. */
const REASONING = /(^|[/-])(o[1-9]|gpt-5|deepseek-r|qwq|magistral)|reasoner|thinking/i;
export const isReasoningModel = (id: string) => REASONING.test(id);

/** What can be used first, then what cannot with its reason; an id that nobody lists stays choosable. */
export function groupModels(models: ListedModel[], chosen: string) {
  const toModelOption = ({ id, available }: ListedModel) => ({
    value: id,
    label: id,
    disabled: !available && id !== chosen,
  });
  const usable = models.filter((model) => model.available);
  const others = models.filter((model) => !model.available);
  const isListed = !chosen || models.some((model) => model.id === chosen);
  return [
    ...(isListed ? [] : [{ group: say("chosenModel"), items: [{ value: chosen, label: chosen }] }]),
    ...(usable.length ? [{ group: say("modelsAvailable"), items: usable.map(toModelOption) }] : []),
    ...(others.length ? [{ group: say("modelsOther"), items: others.map(toModelOption) }] : []),
  ];
}
