import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dropSentEdits } from "../../../shared/sent_edits";
import { type Tool, toolQuery, updateTool, useToolChange } from "../queries";
import { type Definition, definitionOf, toolChanges } from "./definition";

/** What was entered and not saved yet. `revision` counts how often the fields start again from what is saved. */
export function useToolEditing(tool: Tool) {
  const client = useQueryClient();
  const [changes, setChanges] = useState<Partial<Definition>>({});
  const [invalid, setInvalid] = useState<Record<string, boolean>>({});
  const [revision, setRevision] = useState(0);
  const entered = { ...definitionOf(tool), ...changes };
  const update = toolChanges(tool, entered);
  const save = useToolChange(updateTool);
  const isValid = !Object.values(invalid).includes(true);
  const hasChanges = Object.keys(update).length > 0;
  const startAgain = () => {
    setChanges({});
    setInvalid({});
    setRevision((before) => before + 1);
    save.reset();
  };
  const saveChanges = () => {
    if (!hasChanges || !isValid || save.isPending) return;
    save.mutate(
      { id: tool.id, ...update },
      {
        onSuccess: (saved) => {
          client.setQueryData(toolQuery(tool.id).queryKey, saved as Tool);
          setChanges((now) => dropSentEdits(now, changes));
        },
      },
    );
  };
  return {
    entered,
    save,
    saveChanges,
    startAgain,
    revision,
    isValid,
    hasChanges: hasChanges || !isValid,
    change: (next: Partial<Definition>) => setChanges((before) => ({ ...before, ...next })),
    markValidity: (name: string, isFieldValid: boolean) =>
      setInvalid((before) => ({ ...before, [name]: !isFieldValid })),
  };
}
