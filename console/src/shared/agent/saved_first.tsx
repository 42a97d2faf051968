import { lazy, type ReactNode, Suspense, useState } from "react";
import { useDraftSave } from "./unsaved";

const SavingDialog = lazy(() => import("./saving_dialog"));
type Props = { agentId: string; onClose: () => void; children: ReactNode };

/** Nothing is published before the server has what was typed; of what it does not have, it says so. */
export function SavedFirst({ agentId, onClose, children }: Props) {
  const save = useDraftSave(agentId);
  const [wasSaved, setWasSaved] = useState(false);
  // A review that has begun is not taken away.
  if (save.state === "saved" && !wasSaved) setWasSaved(true);
  if (wasSaved || save.state === "saved") return children;
  return (
    <Suspense fallback={null}>
      <SavingDialog agentId={agentId} save={save} onClose={onClose} />
    </Suspense>
  );
}
