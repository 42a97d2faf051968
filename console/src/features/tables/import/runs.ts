import { api, unwrapData } from "../../../api/client";
import { asApiError } from "../../../api/errors";
import { uploadForm } from "../../../api/upload";
import { isImportUnfinished, type TableImport } from "../queries";

export type ImportMode = "append" | "upsert" | "replace";
export type ImportPlan = { file: File; mapping?: Record<string, string>; mode: ImportMode; match: string };
const POLL_MS = 500;
const MAX_PAUSE_MS = 20_000;
const MAX_FAILED_POLLS = 6;

type FollowOptions = { isDry: boolean; signal: AbortSignal; onStep?: (run: TableImport) => void };

const importPath = (table_id: string, import_id: string) => ({ params: { path: { table_id, import_id } } });

export const readImport = async (tableId: string, id: string) =>
  (await unwrapData(api.GET("/api/v1/data-tables/{table_id}/imports/{import_id}", importPath(tableId, id)))).data;
export const cancelImport = async (tableId: string, id: string) =>
  (await unwrapData(api.POST("/api/v1/data-tables/{table_id}/imports/{import_id}/cancel", importPath(tableId, id))))
    .data;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function startImport(tableId: string, plan: ImportPlan, isDry: boolean, signal: AbortSignal) {
  const form = new FormData();
  form.set("file", plan.file);
  form.set("mode", plan.mode);
  if (plan.mapping) form.set("mapping", JSON.stringify(plan.mapping));
  if (plan.mode === "upsert") form.set("match", plan.match);
  const path = `/api/v1/data-tables/${tableId}/import${isDry ? "?dry_run=true" : ""}`;
  const answer = await uploadForm<{ data: { job_id: string } }>(path, form, () => undefined, signal);
  return answer.data.job_id;
}

/** Follow a run to its end. A poll that gets no answer is not the end of the run: it is asked for again. */
export async function followRun(
  tableId: string,
  id: string,
  { isDry, signal, onStep }: FollowOptions,
): Promise<TableImport> {
  let failedPolls = 0;
  for (;;) {
    try {
      const run = await readImport(tableId, id);
      failedPolls = 0;
      onStep?.(run);
      if (!isImportUnfinished(run)) return run;
      if (signal.aborted && isDry) return cancelImport(tableId, id);
    } catch (error) {
      failedPolls += 1;
      const { status, retryAfterSeconds } = asApiError(error);
      const isForAMoment = status === 0 || status === 429 || status >= 500;
      if (!isForAMoment || failedPolls > MAX_FAILED_POLLS) throw error;
      await pause(Math.min(MAX_PAUSE_MS, 1000 * retryAfterSeconds || POLL_MS * 2 ** failedPolls));
    }
    await pause(POLL_MS);
  }
}

/** Check a file to the end of it; nobody waiting any more cancels a check. */
async function checkToTheEnd(tableId: string, plan: ImportPlan, signal: AbortSignal): Promise<TableImport> {
  const id = await startImport(tableId, plan, true, signal);
  return followRun(tableId, id, { isDry: true, signal });
}

let lane: Promise<unknown> = Promise.resolve();
/** Check a file. A table has one import at a time, so a check waits until the one before it has gone. */
export function checkImport(tableId: string, plan: ImportPlan, signal: AbortSignal): Promise<TableImport> {
  const next = lane.then(() => {
    signal.throwIfAborted();
    return checkToTheEnd(tableId, plan, signal);
  });
  lane = next.catch(() => undefined);
  return next;
}
