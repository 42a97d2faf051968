import type { Tone } from "../../shared/marks/status";
import type { JobStatus } from "./filters";

export const JOB_TONES: Record<JobStatus, Tone> = { waiting: "idle", running: "run", failed: "bad" };
export const MAIL_TONES: Record<JobStatus, Tone> = { waiting: "warn", running: "run", failed: "bad" };
