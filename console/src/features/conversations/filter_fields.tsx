import { Button, NumberInput, Radio, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { FilterChip } from "../../shared/list/filter_chip";
import { formatDay, formatMoney } from "../../shared/time";
import { CONVERSATION_PERIODS, type ConversationFilters } from "./filters";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

export type FilterProps = {
  filters: ConversationFilters;
  onChange: (change: Partial<ConversationFilters>) => void;
};

/** The days of the filter in words: the period, or the first and the last day. */
function describeDays({ period, from, to }: ConversationFilters): string | undefined {
  if (period) return say(`period_${period}`);
  const [first, last] = [from, to].map((day) => day && formatDay(`${day}T12:00`));
  if (first && last) return first === last ? first : say("fromTo", { from: first, to: last });
  if (first) return say("since", { from: first });
  return last && say("until", { to: last });
}

/** When the last message came: within a period that moves on, or between two days. */
export const DayChip = ({ filters, onChange }: FilterProps) => (
  <FilterChip
    label={say("days")}
    value={describeDays(filters)}
    onClear={() => onChange({ period: undefined, from: undefined, to: undefined })}
  >
    {(close) => <DayFields filters={filters} onChange={onChange} onDone={close} />}
  </FilterChip>
);

function DayFields({ filters, onChange, onDone }: FilterProps & { onDone: () => void }) {
  const [from, setFrom] = useState(filters.from ?? "");
  const [to, setTo] = useState(filters.to ?? "");
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    const [first, last] = from && to && from > to ? [to, from] : [from, to];
    onChange({ period: undefined, from: first || undefined, to: last || undefined });
    onDone();
  };
  return (
    <>
      <Radio.Group
        aria-label={say("days")}
        value={filters.period ?? ""}
        onChange={(chosen) => {
          onChange({ period: CONVERSATION_PERIODS.find((one) => one === chosen), from: undefined, to: undefined });
          onDone();
        }}
      >
        <div className="stack g8">
          {CONVERSATION_PERIODS.map((value) => (
            <Radio key={value} size="xs" value={value} label={say(`period_${value}`)} />
          ))}
        </div>
      </Radio.Group>
      <form className="stack g8" onSubmit={handleSubmit}>
        <TextInput
          size="xs"
          type="date"
          label={say("from")}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          size="xs"
          type="date"
          label={say("to")}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default" className="push" disabled={!from && !to}>
          {say("apply")}
        </Button>
      </form>
    </>
  );
}

type NumberFieldProps = {
  label: string;
  hint?: string;
  value?: number;
  isWhole?: boolean;
  onApply: (value?: number) => void;
};

function NumberField({ label, hint, value, isWhole = false, onApply }: NumberFieldProps) {
  const [text, setText] = useState<number | string>(value ?? "");
  const number = Number(text);
  const isUsable = text !== "" && number > 0;
  return (
    <form
      className="stack g8"
      onSubmit={(event) => {
        event.preventDefault();
        if (isUsable) onApply(number);
      }}
    >
      <NumberInput
        size="xs"
        label={label}
        description={hint}
        min={0}
        max={1_000_000}
        allowNegative={false}
        allowDecimal={!isWhole}
        hideControls
        data-autofocus
        value={text}
        onChange={setText}
      />
      <Button type="submit" size="xs" variant="default" className="push" disabled={!isUsable}>
        {say("apply")}
      </Button>
    </form>
  );
}

/** What the turns of a conversation cost together, at least. */
export const CostChip = ({ filters, onChange }: FilterProps) => (
  <FilterChip
    label={say("cost")}
    value={filters.cost === undefined ? undefined : say("atLeast", { cost: formatMoney(filters.cost) })}
    onClear={() => onChange({ cost: undefined })}
  >
    {(close) => (
      <NumberField
        label={say("leastCost")}
        hint={say("leastCostHint")}
        value={filters.cost}
        onApply={(cost) => {
          onChange({ cost });
          close();
        }}
      />
    )}
  </FilterChip>
);

/** The version of the chosen agent that replied. */
export const VersionChip = ({ filters, onChange }: FilterProps) => (
  <FilterChip
    label={say("version")}
    value={filters.version?.toString()}
    onClear={() => onChange({ version: undefined })}
  >
    {(close) => (
      <NumberField
        label={say("version")}
        isWhole
        value={filters.version}
        onApply={(version) => {
          onChange({ version });
          close();
        }}
      />
    )}
  </FilterChip>
);
