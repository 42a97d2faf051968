import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { PageSwitcher } from "../../shared/list/pages";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { WaitingMailList } from "./mail_list";
import { OperatePage } from "./operate_page";
import { ROWS_PER_PAGE, waitingMailsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const SHEET_WIDTH = 860;

/** Mails of all organizations that wait to be sent. */
export default function WaitingMailsPage() {
  const { page } = useSearch({ from: "/frame/operate/mails" });
  const navigate = useNavigate();
  const list = useQuery(waitingMailsQuery(page));
  const mails = list.data?.data;
  const total = list.data?.pagination.total ?? 0;
  return (
    <OperatePage tab="mails">
      {list.error && !mails ? (
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !mails ? (
        <RowSkeletons rows={4} columns={[28, 320, 120]} />
      ) : mails.length === 0 ? (
        <EmptyState title={say("noMailTitle")}>{say("noMailText")}</EmptyState>
      ) : (
        <Sheet width={SHEET_WIDTH}>
          <SheetSection title={say("outbox")} note={say("outboxHint")}>
            <WaitingMailList mails={mails} />
            <PageSwitcher
              page={page ?? 1}
              perPage={ROWS_PER_PAGE}
              total={total}
              onChange={(next) => void navigate({ to: "/operate/mails", search: { page: next }, replace: true })}
            />
          </SheetSection>
        </Sheet>
      )}
    </OperatePage>
  );
}
