import MonitorSmartphone from "icon:monitor-smartphone";
import X from "icon:x";
import { ActionIcon, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { createTranslator } from "../../shared/i18n/words";
import { StatusPill } from "../../shared/marks/status";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { deviceNameOf } from "../../shared/people/browser";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatTimeOfDay } from "../../shared/time";
import style from "./people.module.css";
import { endSessions, usePeopleChange, userSessionsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** Where a person is signed in; each session can be ended, but for the one that this page is asked with. */
export function UserSessions({ userId, isOwn }: { userId: string; isOwn: boolean }) {
  const sessions = useQuery(userSessionsQuery(userId));
  const end = usePeopleChange(endSessions);
  const rows = sessions.data?.data;
  const others = rows?.filter((session) => !session.is_current).map(({ id }) => id) ?? [];
  return (
    <section className="stack g8" aria-labelledby="sessions">
      <div className="row g8">
        <h3 className="t-sec grow" id="sessions">
          {say("sessions")}
        </h3>
        {others.length > 1 && (
          <Button
            size="compact-xs"
            variant="subtle"
            loading={end.isPending}
            onClick={() => end.mutate({ id: userId, sessionIds: others })}
          >
            {say(isOwn ? "endOthers" : "endAll")}
          </Button>
        )}
      </div>
      <RefusalNote error={end.error} />
      {sessions.error && <FailureState error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {!sessions.error && !rows && <RowSkeletons rows={2} columns={[16, 160]} />}
      {rows?.length === 0 && <p className="t-13 t-3">{say("noSessions")}</p>}
      {rows && rows.length > 0 && (
        <ul className="card">
          {rows.map((session) => (
            <li key={session.id} className={style.line}>
              <MonitorSmartphone size={15} />
              <span className="stack grow">
                <span className="row g6">
                  <span className="t-13 cut">{deviceNameOf(session.user_agent)}</span>
                  {session.is_current && <StatusPill tone="ok">{say("thisSession")}</StatusPill>}
                </span>
                <span className="t-12 t-3 num">
                  {session.ip_address} · {formatTimeOfDay(session.last_used_at)}
                </span>
              </span>
              {!session.is_current && (
                <ActionIcon
                  size={24}
                  aria-label={say("endSession", { device: deviceNameOf(session.user_agent) })}
                  disabled={end.isPending}
                  onClick={() => end.mutate({ id: userId, sessionIds: [session.id] })}
                >
                  <X size={13} />
                </ActionIcon>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
