import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { operateTabName } from "../../shared/operate/names";
import { OPERATE_PERMISSION, OPERATE_TABS, type OperateTab } from "../../shared/operate/tabs";
import { PageTabs } from "../../shared/patterns/page_tabs";
import { overviewQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

type OperatePageProps = { tab: OperateTab["word"]; actions?: ReactNode; children: ReactNode };

/** The frame of Operate: a pill says that it is about all organizations, the tabs how much needs somebody. */
export function OperatePage({ tab, actions, children }: OperatePageProps) {
  const mayOperate = usePermissionCheck()(OPERATE_PERMISSION);
  const { data: overview } = useQuery({ ...overviewQuery, enabled: mayOperate });
  const counts: Partial<Record<OperateTab["word"], number>> = {
    jobs: overview?.queues.reduce((sum, { failed }) => sum + failed, 0),
    mails: overview?.mail.waiting,
  };
  const tabs = OPERATE_TABS.map((one) => ({
    label: operateTabName(one),
    to: one.to,
    count: counts[one.word] || undefined,
  }));
  return (
    <>
      <PageBar
        title={say("title")}
        tab={operateTabName({ word: tab })}
        after={<StatusPill>{say("everywhere")}</StatusPill>}
      >
        {mayOperate && actions}
      </PageBar>
      {mayOperate && <PageTabs tabs={tabs} label={say("tabs")} />}
      {children}
    </>
  );
}
