import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { PageTabs } from "../patterns/page_tabs";
import en from "./words.en.json";

const say = createTranslator(en, "shared/trace");
const TABS = [
  { name: "conversations", to: "/conversations", needs: "conversations:read" },
  { name: "traces", to: "/traces", needs: "traces:read" },
] as const;

/** What was said and how it came about, side by side for those who may see both. */
export function ConversationTabs() {
  const may = usePermissionCheck();
  const tabs = TABS.filter((tab) => may(tab.needs)).map(({ name, to }) => ({ label: say(name), to }));
  return tabs.length > 1 && <PageTabs tabs={tabs} label={say("parts")} />;
}
