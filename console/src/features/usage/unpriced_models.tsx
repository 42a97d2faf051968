import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { SheetSection } from "../../shared/patterns/sheet";
import { ModelPriceEditor } from "../../shared/providers/price_editor";
import { modelListQuery } from "../../shared/providers/queries";
import { groupTotalsQuery } from "./queries";
import { type GroupUsage, rankGroups } from "./report";
import style from "./usage.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });

/** The models of the last thirty days that cost something nobody knows. */
export function UnpricedModels({ mayWrite }: { mayWrite: boolean }) {
  const used = useQuery(groupTotalsQuery("model", "30d"));
  const models = useQuery(modelListQuery);
  const hasPrice = (id: string | null) =>
    models.data?.data.some((model) => model.id === id && model.input_price_per_mtok !== null);
  const unpriced = rankGroups(used.data?.data ?? [], "model", "tokens").filter(
    ({ id, unpriced_tokens }) => unpriced_tokens > 0 && !hasPrice(id),
  );
  if (!models.data || unpriced.length === 0) return null;
  return (
    <SheetSection title={say("noPrice")} note={say("unpricedNote")}>
      <ul className="card" aria-label={say("unpricedModels")}>
        {unpriced.map((model) => (
          <UnpricedModel key={model.id} model={model} mayWrite={mayWrite} />
        ))}
      </ul>
    </SheetSection>
  );
}

function UnpricedModel({ model: { id, unpriced_tokens }, mayWrite }: { model: GroupUsage; mayWrite: boolean }) {
  const model = {
    id: id ?? "",
    input_price_per_mtok: null,
    output_price_per_mtok: null,
    cached_input_price_per_mtok: null,
    cache_write_price_per_mtok: null,
    source: null,
  };
  return (
    <li className={style.line}>
      <span className="mono t-12 cut grow" title={model.id}>
        {model.id}
      </span>
      <span className="t-12 t-3 num">{say("tokenCount", { count: compact.format(unpriced_tokens) })}</span>
      {mayWrite && (
        <ModelPriceEditor model={model} title={say("priceTitle", { model: model.id })}>
          {(toggle) => (
            <Button size="xs" variant="default" aria-label={say("setPriceOf", { model: model.id })} onClick={toggle}>
              {say("setPrice")}
            </Button>
          )}
        </ModelPriceEditor>
      )}
    </li>
  );
}
