import { Textarea } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { listDomainProblems } from "./domains";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");

type DomainsProps = {
  value: string;
  error: Error | null;
  /** The domains that the error is about. */
  sent?: string[] | null;
  /** What is wrong with the field as a whole. */
  problem?: string;
  onChange: (text: string) => void;
};

/** The domains that may show the widget, one per line; a wrong one is named by its line. */
export const DomainsField = ({ value, error, sent, problem, onChange }: DomainsProps) => (
  <Textarea
    error={
      listDomainProblems(error, sent ?? [], value)
        .map((one) => say("lineProblem", one))
        .join(" ") || (error && asApiError(error).details.allowed_domains ? problem : undefined)
    }
    label={say("allowedDomains")}
    description={say("domainsHint")}
    placeholder={"example.com\n*.example.com"}
    autosize
    minRows={2}
    maxRows={6}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
