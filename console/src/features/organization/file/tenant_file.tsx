import { usePermissionCheck } from "../../../api/queries";
import { PageBar } from "../../../shared/frame/bar";
import { createTranslator } from "../../../shared/i18n/words";
import { Sheet } from "../../../shared/patterns/sheet";
import { settingsTabName } from "../../../shared/settings/names";
import en from "../words.en.json";
import { ExportSection } from "./export_section";
import { ImportSection } from "./import_section";

const say = createTranslator(en, "features/organization");
const SHEET_WIDTH = 860;

/** The configuration of the organization as a file: taken along, compared and applied. */
export default function TenantFilePage() {
  const may = usePermissionCheck();
  const organization = { label: settingsTabName({ word: "organization" }), to: "/settings/organization" };
  return (
    <>
      <PageBar trail={may("admin:users") ? [organization] : []} title={say("file")} />
      <Sheet width={SHEET_WIDTH}>
        <ExportSection />
        <ImportSection />
      </Sheet>
    </>
  );
}
