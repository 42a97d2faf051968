import RotateCw from "icon:rotate-cw";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { Note } from "../../shared/patterns/note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { type CheckTile, type Concern, describeFinding, describeTiles, listConcerns } from "./checks";
import { WaitingMailList } from "./mail_list";
import style from "./operate.module.css";
import { OperatePage } from "./operate_page";
import { OrganizationTable } from "./organization_table";
import { organizationsQuery, overviewQuery, waitingMailsQuery } from "./queries";
import { QueueTable } from "./queue_table";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const SHOWN_MAILS = 3;
const SHOWN_ORGANIZATIONS = 8;
const MAX_CONCERNS = 4;

/** How the whole server is: what needs somebody first, then every part of it. */
export default function OperateOverviewPage() {
  const overview = useQuery(overviewQuery);
  const { data } = overview;
  return (
    <OperatePage
      tab="overview"
      actions={
        <Button
          variant="default"
          leftSection={<RotateCw size={14} />}
          loading={overview.isFetching}
          onClick={() => void overview.refetch()}
        >
          {say("checkAgain")}
        </Button>
      }
    >
      {overview.error && !data ? (
        <FailureState error={overview.error} onRetry={() => void overview.refetch()} />
      ) : !data ? (
        <RowSkeletons rows={6} columns={[160, 260, 160]} />
      ) : (
        <Sheet>
          <ConcernNotes concerns={listConcerns(data).slice(0, MAX_CONCERNS)} />
          <CheckGrid tiles={describeTiles(data)} />
          <div className={style.two}>
            <SheetSection title={say("queues")} note={say("queuesNote")}>
              <QueueTable queues={data.queues} />
            </SheetSection>
            <WaitingMails isSent={data.mail.transport === "smtp"} />
          </div>
          <OrganizationsSection />
          <SheetSection title={say("more")} note={say("moreNote")}>
            <CopyableCode label={say("onTheServer")} text="retinue doctor" />
          </SheetSection>
        </Sheet>
      )}
    </OperatePage>
  );
}

const ConcernNotes = ({ concerns }: { concerns: Concern[] }) => (
  <>
    {concerns.map(({ key, tone, title, text, queue, isFailed }) => (
      <Note
        key={key}
        tone={tone}
        action={
          queue ? (
            <Button
              size="compact-xs"
              variant="default"
              renderRoot={(props) => <Link to="/operate/jobs" search={{ status: "waiting", queue }} {...props} />}
            >
              {say("openQueue")}
            </Button>
          ) : (
            isFailed && (
              <Button size="compact-xs" variant="default" component={Link} to="/operate/jobs">
                {say("openFailed")}
              </Button>
            )
          )
        }
      >
        <b className="t-500">{title}</b> {text}
      </Note>
    ))}
  </>
);

const CheckGrid = ({ tiles }: { tiles: CheckTile[] }) => (
  <ul className={`card ${style.checks}`} aria-label={say("checks")}>
    {tiles.map(({ key, name, tone, fact, note, findings }) => (
      <li key={key}>
        <StatusLabel tone={tone}>
          <span className={`t-500 ${style.tileName}`}>{name}</span>
          {tone !== "ok" && tone !== "idle" && (
            <span className="sr">{say(`tone_${tone === "bad" ? "bad" : "warn"}`)}</span>
          )}
        </StatusLabel>
        <span className="t-13 num">{fact}</span>
        {findings.length === 0 && note && <span className={`t-12 t-3 ${style.tileNote}`}>{note}</span>}
        {findings.map((check) => (
          <span key={check.name} className={`t-12 ${check.status === "fail" ? style.grave : style.mild}`}>
            {describeFinding(check, findings.length > 1)}
          </span>
        ))}
      </li>
    ))}
  </ul>
);

function WaitingMails({ isSent }: { isSent: boolean }) {
  const mails = useQuery(waitingMailsQuery(1, SHOWN_MAILS));
  const total = mails.data?.pagination.total ?? 0;
  return (
    <SheetSection
      title={say("outbox")}
      note={say(isSent ? "outboxNote" : "outboxFiles")}
      actions={
        total > 0 && (
          <Link className="link t-13" to="/operate/mails">
            {say("allMails", { count: total })}
          </Link>
        )
      }
    >
      {mails.error ? (
        <FailureState error={mails.error} onRetry={() => void mails.refetch()} />
      ) : (
        <WaitingMailList mails={mails.data?.data} />
      )}
    </SheetSection>
  );
}

function OrganizationsSection() {
  const list = useQuery(organizationsQuery({}, SHOWN_ORGANIZATIONS));
  return (
    <SheetSection
      title={say("organizations")}
      actions={
        <>
          <Link className="link t-13" to="/operate/organizations">
            {say("allOrganizations", { count: list.data?.pagination.total ?? 0 })}
          </Link>
          <Button size="xs" variant="default" component={Link} to="/operate/organizations/new">
            {say("newOrganization")}
          </Button>
        </>
      }
    >
      {list.error ? (
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        list.data && (
          <div className="card">
            <OrganizationTable organizations={list.data.data} isBoxed />
          </div>
        )
      )}
    </SheetSection>
  );
}
