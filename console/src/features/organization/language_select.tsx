import { Select } from "@mantine/core";
import { asApiError } from "../../api/errors";
import { LANGUAGES, locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import style from "./organization.module.css";
import { useOrganizationChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");
const FALLBACK = "";
const names = new Intl.DisplayNames(locale, { type: "language" });

/** The languages to choose from: those of the console, and one that was set in another way. */
const listLanguages = (current: string | null) => [
  { value: FALLBACK, label: say("languageFallback") },
  ...[...new Set([...Object.keys(LANGUAGES), ...(current ? [current] : [])])].map((value) => ({
    value,
    label: names.of(value) ?? value,
  })),
];

/** The language of accounts that are new; it acts at once, and those who are here keep theirs. */
export function LanguageSelect({ language }: { language: string | null }) {
  const change = useOrganizationChange();
  const chooseLanguage = (value: string) =>
    change.mutate({ language: value || null }, { onSuccess: () => showToast(say("languageChanged")) });
  return (
    <Select
      className={style.field}
      label={say("language")}
      description={say("languageHint")}
      data={listLanguages(language)}
      disabled={change.isPending}
      error={change.error ? asApiError(change.error).message : undefined}
      value={(change.isPending ? change.variables.language : language) ?? FALLBACK}
      onChange={(value) => value !== null && value !== (language ?? FALLBACK) && chooseLanguage(value)}
    />
  );
}
