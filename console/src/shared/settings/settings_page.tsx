import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../frame/bar";
import { createTranslator } from "../i18n/words";
import { PageTabs } from "../patterns/page_tabs";
import { settingsTabName } from "./names";
import { SETTINGS_TABS, type SettingsTab } from "./tabs";
import en from "./words.en.json";

const say = createTranslator(en, "shared/settings");

type SettingsPageProps = {
  tab: SettingsTab["word"];
  /** How many there are of what this tab lists. */
  count?: number;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame that all tabs of Settings share: the bar and the tabs that this person may see. */
export function SettingsPage({ tab, count, actions, children }: SettingsPageProps) {
  const may = usePermissionCheck();
  const tabs = SETTINGS_TABS.filter(({ needs }) => may(needs)).map((one) => ({
    label: settingsTabName(one),
    to: one.to,
    count: one.word === tab ? count : undefined,
  }));
  return (
    <>
      <PageBar title={say("title")} tab={settingsTabName({ word: tab })}>
        {actions}
      </PageBar>
      {tabs.length > 0 && <PageTabs tabs={tabs} label={say("parts")} />}
      {children}
    </>
  );
}
