import Download from "icon:download";
import X from "icon:x";
import { ActionIcon, Button } from "@mantine/core";
import { useState, useSyncExternalStore } from "react";
import { apiUrlOf, fetchAsUser } from "../../api/client";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { saveFile } from "../../shared/save_file";
import { ConversationExport } from "./conversation_export";
import type { ConversationFilters } from "./filters";
import { toConversationQuery } from "./list_query";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

const saveExport = (file: Blob) => saveFile(file, `conversations-${new Date().toISOString().slice(0, 10)}.jsonl`);

function readExport(filters: ConversationFilters, signal: AbortSignal) {
  const wanted = Object.entries(toConversationQuery(filters)).map(([name, value]) => [name, String(value)]);
  return fetchAsUser(new Request(apiUrlOf(`/api/v1/conversations/export?${new URLSearchParams(wanted)}`), { signal }));
}

export function useConversationExport() {
  const [download] = useState(() => new ConversationExport(saveExport));
  return { download, progress: useSyncExternalStore(download.subscribe, download.getSnapshot) };
}

type Props = ReturnType<typeof useConversationExport> & { filters: ConversationFilters; total: number };

/** Downloads the listed conversations of all pages with their messages. */
export function ExportButton({ download, progress, filters, total }: Props) {
  if (progress.isRunning)
    return (
      <span className="row g6" role="status">
        <span className="t-13 t-2 num">{say("exporting", { count: progress.count, total })}</span>
        <ActionIcon aria-label={say("stopExport")} onClick={download.stop}>
          <X size={15} />
        </ActionIcon>
      </span>
    );
  return (
    <Button
      variant="default"
      leftSection={<Download size={14} />}
      disabled={total === 0}
      onClick={() => void download.start((signal) => readExport(filters, signal))}
    >
      {total > 0 ? say("exportCount", { count: total }) : say("export")}
    </Button>
  );
}

/** Why the last export broke off. */
export const ExportNote = ({ progress }: Pick<Props, "progress">) =>
  progress.error && <Note tone="bad">{say("exportFailed", { problem: asApiError(progress.error).message })}</Note>;
