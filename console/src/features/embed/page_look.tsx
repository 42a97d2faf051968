import { TextInput } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { ColourField } from "./designer";
import type { Settings } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
const LINKS = ["logo_url", "contact_url", "privacy_url", "imprint_url"] as const;

/** Whether this is an address that the page takes; only a person may also be reached by mail. */
export const isHttpsPageLink = (text: string, takesMail: boolean) =>
  /^https:\/\/[^\s]+$/.test(text) || (takesMail && /^mailto:[^\s@]+@[^\s@]+$/.test(text));

type Props = { settings: Settings; onChange: (part: Partial<Settings>) => void; isDisabled: boolean };

/** What only a whole page shows: more words, a second colour, a logo and links. */
export function PageLook({ settings, onChange, isDisabled }: Props) {
  return (
    <div className="stack g16">
      <TextInput
        label={say("lead")}
        maxLength={200}
        disabled={isDisabled}
        value={settings.lead ?? ""}
        onChange={(event) => onChange({ lead: event.currentTarget.value || null })}
      />
      <ColourField
        label={say("second_accent")}
        value={settings.second_accent ?? null}
        isDisabled={isDisabled}
        onChange={(second_accent) => onChange({ second_accent })}
      />
      {LINKS.map((name) => {
        const value = settings[name] ?? "";
        return (
          <TextInput
            key={name}
            label={say(name)}
            placeholder={name === "contact_url" ? "mailto:" : "https://"}
            maxLength={500}
            disabled={isDisabled}
            value={value}
            error={value && !isHttpsPageLink(value, name === "contact_url") ? say("linkProblem") : undefined}
            onChange={(event) => onChange({ [name]: event.currentTarget.value.trim() || null })}
          />
        );
      })}
    </div>
  );
}
