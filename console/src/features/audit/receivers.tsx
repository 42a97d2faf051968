import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { guidePathOf } from "../../api/base";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { settingsTabName } from "../../shared/settings/names";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { type AuditReceiver, type NewAuditReceiver, receiversQuery } from "./queries";
import { ReceiverForm } from "./receiver_form";
import { ReceiverRow } from "./receiver_row";
import { ReceiverSecret } from "./receiver_secret";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");
const SHEET_WIDTH = 860;

/** Where the log is sent as it grows: batches that are signed, in order and at least once. */
export default function AuditReceiversPage() {
  const list = useQuery(receiversQuery);
  const mayChange = usePermissionCheck()("audit:write");
  const [form, setForm] = useState<{ of?: AuditReceiver }>();
  const [made, setMade] = useState<NewAuditReceiver>();
  const receivers = list.data?.data;
  const trail = [{ label: settingsTabName({ word: "audit" }), to: "/settings/audit" }];
  const addButton = mayChange && (
    <Button leftSection={<Plus size={14} />} onClick={() => setForm({})}>
      {say("addReceiver")}
    </Button>
  );
  return (
    <>
      <PageBar trail={trail} title={say("receivers")}>
        {receivers && receivers.length > 0 && addButton}
      </PageBar>
      {list.error && !receivers ? (
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !receivers ? (
        <RowSkeletons rows={3} columns={[160, 320, 120]} />
      ) : receivers.length === 0 ? (
        <EmptyState title={say("noReceiversTitle")} actions={addButton}>
          {say("noReceivers")}
        </EmptyState>
      ) : (
        <Sheet width={SHEET_WIDTH}>
          <SheetSection title={say("receivers")} note={say("receiversNote")}>
            <ul className="card">
              {receivers.map((receiver) => (
                <ReceiverRow
                  key={receiver.id}
                  receiver={receiver}
                  mayChange={mayChange}
                  onChange={() => setForm({ of: receiver })}
                />
              ))}
            </ul>
            <p className="t-12 t-3">
              {say("receiversHint")}{" "}
              <a
                className="inline-link"
                href={guidePathOf("audit.md#send-it-elsewhere")}
                target="_blank"
                rel="noreferrer"
              >
                {say("receiversGuide")}
              </a>
            </p>
          </SheetSection>
        </Sheet>
      )}
      {form && (
        <ReceiverForm key={form.of?.id} receiver={form.of} onMade={setMade} onClose={() => setForm(undefined)} />
      )}
      {made && <ReceiverSecret receiver={made} onClose={() => setMade(undefined)} />}
    </>
  );
}
