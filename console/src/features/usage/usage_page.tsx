import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { PageTabs } from "../../shared/patterns/page_tabs";
import { usageTabName } from "../../shared/usage/names";
import { USAGE_TABS, type UsageTab } from "../../shared/usage/tabs";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");

type UsagePageProps = {
  tab: UsageTab["word"];
  /** How many there are of what this tab lists. */
  count?: number;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame that all parts of Usage share: the bar and the tabs that this person may see. */
export function UsagePage({ tab, count, actions, children }: UsagePageProps) {
  const may = usePermissionCheck();
  const tabs = USAGE_TABS.filter(({ needs }) => may(needs)).map((shown) => ({
    label: usageTabName(shown),
    to: shown.to,
    count: shown.word === tab ? count : undefined,
  }));
  return (
    <>
      <PageBar title={say("title")} tab={tab === "overview" ? undefined : usageTabName({ word: tab })}>
        {actions}
      </PageBar>
      {tabs.length > 0 && <PageTabs tabs={tabs} label={say("parts")} />}
      {children}
    </>
  );
}
