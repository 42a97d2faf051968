import { SegmentedControl } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { SearchField } from "../../shared/list/search_field";
import { WEBHOOK_SHOWS, type WebhookFilters } from "./filters";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

type Props = {
  label: string;
  shows: readonly (typeof WEBHOOK_SHOWS)[number][];
  hint?: string;
  filters: WebhookFilters;
  onChange: (change: Partial<WebhookFilters>) => void;
};

/** Finds webhooks by their text and by how they stand. */
export const WebhookToolbar = ({ label, shows, hint, filters, onChange }: Props) => (
  <div className="toolbar">
    <SearchField label={label} value={filters.search} onChange={(search) => onChange({ search })} />
    <SegmentedControl
      aria-label={say("show")}
      data={[{ value: "", label: say("show_all") }, ...shows.map((value) => ({ value, label: say(`show_${value}`) }))]}
      value={filters.show ?? ""}
      onChange={(value) => onChange({ show: WEBHOOK_SHOWS.find((name) => name === value) })}
    />
    {hint && <span className="push t-12 t-3 wide">{hint}</span>}
  </div>
);
