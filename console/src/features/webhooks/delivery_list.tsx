import { useSyncExternalStore } from "react";
import { everySecond } from "../../shared/clock";
import { createTranslator } from "../../shared/i18n/words";
import { formatDayAndTime, formatExactTime } from "../../shared/time";
import { answerWord, deliveredEventName, deliveryTone, describeDelivery } from "./delivery_words";
import type { Delivery } from "./queries";
import style from "./webhooks.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

type Props = { rows: Delivery[]; chosen?: string; onChoose: (id: string) => void };

/** Runs when an entry becomes the chosen one, since it gets this `ref` then. */
const scrollIntoSight = (entry: HTMLElement | null) => entry?.scrollIntoView({ block: "nearest" });

/** The deliveries of a page; a second is enough to see them count down. */
export function DeliveryItems({ rows, chosen, onChoose }: Props) {
  useSyncExternalStore(everySecond, () => Math.floor(Date.now() / 1000));
  return (
    <ul aria-label={say("deliveries")}>
      {rows.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            ref={one.id === chosen ? scrollIntoSight : undefined}
            className={style.item}
            aria-current={one.id === chosen}
            onClick={() => onChoose(one.id)}
          >
            <i className={`dot ${deliveryTone(one)}`} />
            <span className="stack grow">
              <span className={style.spread}>
                <span className="t-13 t-500 cut">{deliveredEventName(one)}</span>
                <span className={`mono t-12 ${one.status === "delivered" ? `t-3 ${style.quiet}` : style.bad}`}>
                  {answerWord(one)}
                </span>
              </span>
              <span className={`${style.spread} t-12 t-3 ${style.quiet}`}>
                <span className="cut">{describeDelivery(one)}</span>
                <span className="num" title={formatExactTime(one.created_at)}>
                  {formatDayAndTime(one.created_at).time}
                </span>
              </span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
