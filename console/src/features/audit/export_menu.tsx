import Download from "icon:download";
import { Button, Menu } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import type { AuditFilters } from "./filters";
import { EXPORT_FORMATS, exportAuditLog } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");

/** Take the log along: of the chosen period, signed, or as a table. */
export function AuditExportMenu({ filters }: { filters: AuditFilters }) {
  const save = useMutation({
    mutationFn: exportAuditLog,
    onSuccess: () => showToast(say("exported")),
    onError: (error) => showToast(asApiError(error).message),
  });
  return (
    <Menu width={300} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<Download size={14} />} loading={save.isPending}>
          {say("export")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {EXPORT_FORMATS.map((format) => (
          <Menu.Item key={format} onClick={() => save.mutate({ filters, format })}>
            <span className="stack">
              <span>{say(`export_${format}`)}</span>
              <span className="t-12 t-3">{say(`export_${format}_hint`)}</span>
            </span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{say(filters.from || filters.to ? "exportPeriod" : "exportAll")}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
