import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { Note } from "../../../shared/patterns/note";
import { SheetSection } from "../../../shared/patterns/sheet";
import en from "../words.en.json";
import { ApplyChangeBar } from "./apply_foot";
import { type FileRequest, TenantFileForm } from "./file_form";
import { FileProblemList } from "./file_problems";
import { countActions } from "./plan_summary";
import { PlannedChanges } from "./plan_view";
import { type AppliedFile, planTenantFile, useFileApply } from "./queries";

const say = createTranslator(en, "features/organization");

/** Bring a file in: what it would change is shown as a difference before anything is changed. */
export function ImportSection() {
  const [request, setRequest] = useState<FileRequest>();
  const plan = useMutation({ mutationFn: planTenantFile });
  const apply = useFileApply();
  const compareFile = (wanted: FileRequest) => {
    setRequest(wanted);
    apply.reset();
    plan.mutate(wanted);
  };
  const forgetPlan = () => {
    plan.reset();
    apply.reset();
  };
  const isStale = apply.error && asApiError(apply.error).code === "plan_stale";
  const planned = apply.data ? undefined : plan.data;
  return (
    <SheetSection title={say("import")}>
      <TenantFileForm
        isBusy={plan.isPending}
        isCompared={Boolean(planned)}
        onChange={forgetPlan}
        onCompare={compareFile}
      />
      {plan.error && <FileProblemList error={plan.error} />}
      {planned && request && (
        <>
          <PlannedChanges changes={planned.changes} warnings={planned.warnings} />
          {apply.error && !isStale && <FileProblemList error={apply.error} />}
          {isStale ? (
            <Note tone="warn">{say("stale")}</Note>
          ) : (
            <ApplyChangeBar
              counts={countActions(planned.changes)}
              isBusy={apply.isPending}
              onApply={() => apply.mutateAsync({ ...request, plan_hash: planned.plan_hash })}
            />
          )}
        </>
      )}
      {apply.data && <AppliedNote applied={apply.data} />}
    </SheetSection>
  );
}

function AppliedNote({ applied }: { applied: AppliedFile }) {
  const counts = countActions(applied.changes);
  return (
    <div className="stack g8" role="status">
      <Note tone="ok">
        <b className="t-500">{say("applied", { count: applied.applied })}</b>{" "}
        {say("planCounts", { ...counts, kept: counts.unchanged })}
      </Note>
      {applied.warnings.length > 0 && <PlannedChanges changes={[]} warnings={applied.warnings} />}
    </div>
  );
}
