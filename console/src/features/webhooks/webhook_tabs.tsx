import { createTranslator } from "../../shared/i18n/words";
import { PageTabs } from "../../shared/patterns/page_tabs";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");

/** Which way: to others, or from them. */
export const WebhookTabs = () => (
  <PageTabs
    label={say("directions")}
    tabs={[
      { label: say("outgoing"), to: "/webhooks" },
      { label: say("incoming"), to: "/webhooks/incoming" },
    ]}
  />
);
