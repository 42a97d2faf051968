import Pencil from "icon:pencil";
import { language } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { ModelPriceEditor } from "../../shared/providers/price_editor";
import { formatExactTime } from "../../shared/time";
import type { ModelPriceEntry } from "./queries";
import style from "./usage.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const dollars = new Intl.NumberFormat(language, { style: "currency", currency: "USD", maximumFractionDigits: 6 });
const formatPrice = (price: number | null) => (price === null ? "–" : dollars.format(price));

/** Models that speak or listen have prices of their own. */
function describeAudio({ speech_price_per_mchar: speech, transcription_price_per_minute: minute }: ModelPriceEntry) {
  if (speech !== null) return say("perMchar", { price: formatPrice(speech) });
  return minute === null ? "–" : say("perMinute", { price: formatPrice(minute) });
}

export function PriceTable({ prices, mayWrite }: { prices: ModelPriceEntry[]; mayWrite: boolean }) {
  return (
    <div className="card scroll-x">
      <table className="table boxed">
        <caption className="sr">{say("pricesOf")}</caption>
        <thead>
          <tr>
            <th>{say("model")}</th>
            <th className="num">{say("input")}</th>
            <th className="num wide">{say("cachedInput")}</th>
            <th className="num">{say("output")}</th>
            <th className="num wide">{say("audio")}</th>
            <th className="wide">{say("source")}</th>
            {mayWrite && (
              <th>
                <span className="sr">{say("change")}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {prices.map((price) => (
            <tr key={price.model}>
              <td>
                <span className={`mono t-12 cut ${style.model}`} title={price.model}>
                  {price.model}
                </span>
              </td>
              <td className="num">{formatPrice(price.input_price_per_mtok)}</td>
              <td className="num wide t-2">{formatPrice(price.cached_input_price_per_mtok)}</td>
              <td className="num">{formatPrice(price.output_price_per_mtok)}</td>
              <td className="num wide t-2">{describeAudio(price)}</td>
              <td className="wide" title={price.updated_at ? formatExactTime(price.updated_at) : undefined}>
                <StatusPill tone={price.source === "tenant" ? "run" : undefined}>
                  {say(`source_${price.source}`)}
                </StatusPill>
              </td>
              {mayWrite && (
                <td className="num">
                  {price.speech_price_per_mchar === null && price.transcription_price_per_minute === null && (
                    <PriceEditor price={price} />
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PriceEditor({ price }: { price: ModelPriceEntry }) {
  return (
    <ModelPriceEditor model={{ ...price, id: price.model }} title={say("priceTitle", { model: price.model })}>
      {(toggle) => (
        <button
          type="button"
          className={style.price}
          aria-label={say("changePrice", { model: price.model })}
          onClick={toggle}
        >
          <Pencil size={13} />
        </button>
      )}
    </ModelPriceEditor>
  );
}
