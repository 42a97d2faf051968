import { Textarea } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

type Props = { value: string; problem?: string; isWrong: boolean; onChange: (text: string) => void };

/** Headers that are sent along, one in a line. */
export const HeaderLines = ({ value, problem, isWrong, onChange }: Props) => (
  <Textarea
    label={say("headers")}
    description={say("headersHint")}
    autosize
    minRows={1}
    maxRows={6}
    classNames={{ input: "mono" }}
    error={problem ?? (isWrong ? say("notAHeader") : undefined)}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
