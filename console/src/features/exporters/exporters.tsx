import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { SettingsPage } from "../../shared/settings/settings_page";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { ExporterForm } from "./exporter_form";
import { ExporterRow } from "./exporter_row";
import style from "./exporters.module.css";
import { exportersQuery, MAX_EXPORTERS } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/exporters");

/** Where the organization's traces are sent besides being kept here. */
export default function ExportersPage() {
  const mayWrite = usePermissionCheck()("traces:write");
  const list = useQuery(exportersQuery);
  const [isAdding, setAdding] = useState(false);
  const exporters = list.data?.data;
  const hasRoom = mayWrite && (exporters?.length ?? 0) < MAX_EXPORTERS;
  useShortcutKeys(hasRoom ? { c: () => setAdding(true) } : {});
  const addButton = mayWrite && (
    <Button leftSection={<Plus size={14} />} disabled={!hasRoom} onClick={() => setAdding(true)}>
      {say("add")}
    </Button>
  );
  return (
    <SettingsPage tab="exporters" count={exporters?.length} actions={addButton}>
      <div className={style.sheet}>
        <p className={`t-13 t-2 ${style.lead}`}>{say("lead", { count: MAX_EXPORTERS })}</p>
        {list.error && !exporters && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && !exporters && <RowSkeletons rows={3} columns={[28, 300, 96]} />}
        {exporters?.length === 0 && (
          <div className="card">
            <EmptyState title={say("noneTitle")} actions={addButton}>
              {say("none")}
            </EmptyState>
          </div>
        )}
        {exporters && exporters.length > 0 && (
          <ul className={`card ${style.rows}`}>
            {exporters.map((exporter) => (
              <ExporterRow key={exporter.id} of={exporter} mayWrite={mayWrite} />
            ))}
          </ul>
        )}
      </div>
      {isAdding && <ExporterForm onClose={() => setAdding(false)} />}
    </SettingsPage>
  );
}
