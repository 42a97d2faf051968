import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { locale } from "../../../shared/i18n/language";
import { createTranslator } from "../../../shared/i18n/words";
import { FigureStrip, Sheet } from "../../../shared/patterns/sheet";
import type { DataTable, TableImport } from "../queries";
import en from "../words.en.json";
import { CheckResult } from "./check_result";

const say = createTranslator(en, "features/tables");
type EndProps = { table: DataTable; run: TableImport };

/** What came of an import, and the way to its rows. */
export const ImportEndSheet = ({ table, run }: EndProps) => (
  <Sheet width={760}>
    <h2 className="t-sec" role="status">
      {say(run.status === "completed" ? "importDone" : "importFailed", { file: run.filename })}
    </h2>
    <FigureStrip
      figures={[
        { name: say("added"), value: run.rows_created.toLocaleString(locale) },
        { name: say("changedRows"), value: run.rows_updated.toLocaleString(locale) },
        { name: say("leftOut"), value: run.rows_failed.toLocaleString(locale) },
      ]}
    />
    {(run.rows_failed > 0 || run.error) && <CheckResult run={run} isBusy={false} isMapped table={table} />}
    <div className="row g8">
      <Button renderRoot={(props) => <Link {...props} to="/tables/$tableId" params={{ tableId: table.id }} />}>
        {say("showRows")}
      </Button>
    </div>
  </Sheet>
);
