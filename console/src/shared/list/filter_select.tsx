import { Select, type SelectProps } from "@mantine/core";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/list");

type Props = Pick<SelectProps, "className" | "w" | "searchable" | "nothingFoundMessage"> & {
  label: string;
  /** What stands in the field while any value fits. */
  any: string;
  choices: NonNullable<SelectProps["data"]>;
  value?: string;
  onChange: (value?: string) => void;
};

/** A filter of a toolbar that is one of several values, or any. */
export const FilterSelect = ({ label, any, choices, value, onChange, ...field }: Props) => (
  <Select
    {...field}
    size="xs"
    aria-label={label}
    placeholder={any}
    clearable
    clearButtonProps={{ "aria-label": say("clearFilters") }}
    data={choices}
    value={value ?? null}
    onChange={(chosen) => onChange(chosen ?? undefined)}
  />
);
