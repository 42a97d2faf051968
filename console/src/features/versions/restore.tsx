import TriangleAlert from "icon:triangle-alert";
import { Button, Modal } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { restoreVersion } from "../../shared/versions/queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/versions");

/** What could not be brought back. */
export function RestoreWarnings({ warnings }: { warnings: string[] }) {
  if (!warnings.length) return null;
  return (
    <div className="note warn" role="status">
      <TriangleAlert size={15} />
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </div>
  );
}

type Props = { agentId: string; version: number; onClose: () => void; onRestored: (warnings: string[]) => void };

export function RestoreDialog({ agentId, version, onClose, onRestored }: Props) {
  const client = useQueryClient();
  const restoring = useMutation({
    mutationFn: () => restoreVersion(agentId, version),
    onSuccess: async ({ warnings }) => {
      await client.invalidateQueries({ queryKey: ["agents"] });
      onRestored(warnings);
    },
  });
  return (
    <Modal opened onClose={onClose} title={say("restoreTitle", { version: `v${version}` })} size={440}>
      <div className="stack g12">
        <p className="t-2">{say("restoreText")}</p>
        <RefusalNote error={restoring.error} />
        <div className="row g8">
          <span className="push" />
          <Button variant="default" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button loading={restoring.isPending} onClick={() => restoring.mutate()} data-autofocus>
            {say("restore", { version: `v${version}` })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
