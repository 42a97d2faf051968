import { createElement } from "@retinue/elements";
import { FieldView } from "./field_view";

const MINUTE_MS = 60_000;

const formatTwoDigits = (number: number) => String(Math.trunc(Math.abs(number))).padStart(2, "0");

/** Return the visitor's UTC offset at a local time, such as `+01:00`. */
function formatOffset(localTime: string): string {
  const minutes = -new Date(localTime).getTimezoneOffset();
  return `${minutes < 0 ? "-" : "+"}${formatTwoDigits(minutes / 60)}:${formatTwoDigits(minutes % 60)}`;
}

/** Convert a date and time to the visitor's time zone; without a zone of its own it is in UTC. */
function toLocalTime(text: string): string {
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text.slice(10));
  const time = new Date(hasZone || text.length === 10 ? text : `${text}Z`);
  if (Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** A date or a date and time. An unfinished one is sent as an invalid value, so that the server reports it. */
export class DateFieldView extends FieldView {
  private readonly hasTime = this.field.type === "datetime";
  private readonly input = createElement(
    "input",
    this.makeAttributes({
      type: this.hasTime ? "datetime-local" : "date",
      min: this.formatLimit(this.rules.min_date, "T00:00"),
      max: this.formatLimit(this.rules.max_date, "T23:59"),
      onchange: () => this.reportChange(),
    }),
  );

  protected makeControl() {
    return this.input;
  }

  private formatLimit(limit: string | undefined, timeOfDay: string): string | undefined {
    if (!limit) return undefined;
    if (!this.hasTime) return limit.slice(0, 10);
    return limit.length === 10 ? limit + timeOfDay : toLocalTime(limit);
  }

  /** A date and time is sent with the visitor's UTC offset. */
  readAnswer() {
    const { value, validity } = this.input;
    if (!value) return validity.badInput ? "unfinished" : undefined;
    return this.hasTime ? value + formatOffset(value) : value;
  }

  showAnswer(answer: unknown) {
    this.input.value = this.hasTime ? toLocalTime(String(answer)) : String(answer).slice(0, 10);
  }
}
