import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill, type Tone } from "../../shared/marks/status";
import { HistoryThread } from "../../shared/patterns/history_thread";
import { SheetSection } from "../../shared/patterns/sheet";
import { useNamesById } from "../../shared/people/names";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatTimeOfDay } from "../../shared/time";
import { type CredentialEvent, credentialEventsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const TONES: Record<string, Tone> = { revealed: "run", tested: "ok", refreshed: "ok", expiring: "warn" };
const isKnown = (action: string): action is CredentialAction => `did_${action}` in en;
type CredentialAction = keyof typeof en extends infer Key ? (Key extends `did_${infer Name}` ? Name : never) : never;

/** What was done with it, newest first; uses are many and can be left out. */
export function CredentialHistory({ credentialId }: { credentialId: string }) {
  const events = useQuery(credentialEventsQuery(credentialId));
  const [show, setShow] = useState("all");
  const shown = events.data?.data.filter(({ action }) => show === "all" || action !== "used");
  const nameOf = useNamesById(
    (shown ?? []).filter(({ actor }) => !actor.name && actor.type === "user").map(({ actor }) => actor.id),
  );
  return (
    <SheetSection
      title={say("history")}
      actions={
        <SegmentedControl
          aria-label={say("historyShow")}
          data={[
            { value: "all", label: say("historyAll") },
            { value: "acts", label: say("historyWithoutUses") },
          ]}
          value={show}
          onChange={setShow}
        />
      }
    >
      {events.error && <FailureState error={events.error} onRetry={() => void events.refetch()} />}
      {!events.error && !shown && <RowSkeletons rows={3} columns={[14, 200]} />}
      {shown && (
        <HistoryThread label={say("history")} knots={shown.map((event) => createKnot(event, nameOf(event.actor.id)))} />
      )}
    </SheetSection>
  );
}

function createKnot(event: CredentialEvent, name: string | undefined) {
  const who = event.actor.name ?? name ?? (event.actor.type === "user" ? event.actor.id : say("itself"));
  const title = isKnown(event.action) ? say(`did_${event.action}`) : event.action;
  return {
    key: event.id,
    tone: event.success ? (TONES[event.action] ?? "idle") : ("bad" as Tone),
    title,
    note: [formatTimeOfDay(event.created_at), who, event.ip_address, event.reason].filter(Boolean).join(", "),
    end: event.success ? undefined : <StatusPill tone="bad">{say("refusedPill")}</StatusPill>,
  };
}
