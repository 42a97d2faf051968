import { createTranslator } from "../../shared/i18n/words";
import { PageTabs } from "../../shared/patterns/page_tabs";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");

/** What happened, and what is done when it happens again. */
export const EventTabs = () => (
  <PageTabs
    label={say("eventParts")}
    tabs={[
      { label: say("log"), to: "/events" },
      { label: say("subscriptions"), to: "/events/subscriptions" },
    ]}
  />
);
