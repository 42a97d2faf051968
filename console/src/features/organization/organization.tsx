import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { tenantQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FactRow, Sheet, SheetSection } from "../../shared/patterns/sheet";
import { SettingsPage } from "../../shared/settings/settings_page";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay } from "../../shared/time";
import { DecidedSettingsTable } from "./decided_settings";
import { LanguageSelect } from "./language_select";
import { OrganizationNameForm } from "./name_form";
import style from "./organization.module.css";
import { OutsiderMailSection } from "./outsider_mail";
import { decidedSettingsQuery, type Organization } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");
const SHEET_WIDTH = 860;

/** What the organization decides itself, and what others decide for it. */
export default function OrganizationPage() {
  const own = useQuery(tenantQuery);
  const decided = useQuery(decidedSettingsQuery);
  const error = own.error ?? decided.error;
  const retry = () => void Promise.all([own.refetch(), decided.refetch()]);
  return (
    <SettingsPage tab="organization">
      {error && !(own.data && decided.data) ? (
        <FailureState error={error} onRetry={retry} />
      ) : own.data && decided.data ? (
        <Sheet width={SHEET_WIDTH}>
          <Identity organization={own.data} />
          <SheetSection title={say("outsiders")}>
            <OutsiderMailSection key={JSON.stringify(own.data.mail_to_outsiders)} rule={own.data.mail_to_outsiders} />
          </SheetSection>
          <SheetSection title={say("decided")} note={say("decidedNote")}>
            <DecidedSettingsTable settings={decided.data.settings} tenantId={own.data.id} />
          </SheetSection>
          <TenantFileSection />
        </Sheet>
      ) : (
        <RowSkeletons rows={5} columns={[120, 360, 120]} />
      )}
    </SettingsPage>
  );
}

const Identity = ({ organization }: { organization: Organization }) => (
  <SheetSection title={say("identity")}>
    <div className={`card ${style.card}`}>
      <OrganizationNameForm key={organization.name} name={organization.name} />
      <LanguageSelect language={organization.language} />
      <FactRow
        facts={[
          [say("since"), formatDay(organization.created_at)],
          [say("id"), <CopyableId key="id">{organization.id}</CopyableId>],
        ]}
      />
    </div>
  </SheetSection>
);

const TenantFileSection = () => (
  <SheetSection title={say("file")}>
    <div className={`card row g16 wrap ${style.card} ${style.file}`}>
      <p className="t-13 t-2 grow">{say("fileText")}</p>
      <Button variant="default" component={Link} to="/settings/organization/file">
        {say("openFile")}
      </Button>
    </div>
  </SheetSection>
);
