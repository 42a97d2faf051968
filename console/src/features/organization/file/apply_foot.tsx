import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tenantQuery } from "../../../api/queries";
import { ConfirmDialog } from "../../../shared/confirm";
import { ConfirmByNameDialog } from "../../../shared/confirm_by_name";
import { createTranslator } from "../../../shared/i18n/words";
import { ChangeBar } from "../../../shared/patterns/change_bar";
import en from "../words.en.json";
import { countPlanned, type PlanCounts } from "./plan_summary";

const say = createTranslator(en, "features/organization");

type ApplyFootProps = { counts: PlanCounts; isBusy: boolean; onApply: () => Promise<unknown> };

/** Apply what was compared, after a question; deleting asks for the name of the organization. */
export function ApplyChangeBar({ counts, isBusy, onApply }: ApplyFootProps) {
  const { data: own } = useQuery(tenantQuery);
  const [isAsking, setAsking] = useState(false);
  const count = countPlanned(counts);
  if (!count) return <p className="t-13 t-2">{say("nothingToApply")}</p>;
  const action = say("apply", { count });
  const text = say("applyText", { create: counts.create, update: counts.update, delete: counts.delete });
  const closeDialog = () => setAsking(false);
  // A refusal is shown beside the plan, where the way on is.
  const applyAndClose = () => onApply().then(closeDialog, closeDialog);
  return (
    <>
      <ChangeBar
        label={say("applyBar")}
        actions={
          <Button loading={isBusy} onClick={() => setAsking(true)}>
            {action}
          </Button>
        }
      >
        <span className="t-13">{say("applyAtOnce")}</span>
      </ChangeBar>
      {isAsking && counts.delete === 0 && (
        <ConfirmDialog
          title={say("applyTitle")}
          action={action}
          isBusy={isBusy}
          onConfirm={() => void applyAndClose()}
          onClose={closeDialog}
        >
          <p>{text}</p>
          <p>{say("applyAtOnce")}</p>
        </ConfirmDialog>
      )}
      {isAsking && counts.delete > 0 && own && (
        <ConfirmByNameDialog
          title={say("applyTitle")}
          name={own.name}
          label={say("typeName", { name: own.name })}
          action={action}
          isBusy={isBusy}
          onConfirm={applyAndClose}
          onClose={closeDialog}
        >
          {text} {say("applyDeletes", { count: counts.delete })}
        </ConfirmByNameDialog>
      )}
    </>
  );
}
