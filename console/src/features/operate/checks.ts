import { formatBytes } from "../../shared/byte_size";
import { createTranslator } from "../../shared/i18n/words";
import type { Tone } from "../../shared/marks/status";
import { translateSentence } from "../../shared/sentences/sentences";
import { formatDuration, formatTimeOfDay } from "../../shared/time";
import type { Overview, QueueState } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const isWord = (key: string): key is keyof typeof en => key in en;
const BEHIND_SECONDS = 60;
const MAIL_LATE_MS = 10 * 60_000;
const COMMIT_LENGTH = 10;

type Check = Overview["checks"][number];
export type CheckTile = { key: string; name: string; tone: Tone; fact: string; note?: string; findings: Check[] };

/** The checks that a tile speaks for. Every other check of the server gets a tile of its own. */
const CHECKS_OF_TILE = {
  server: ["redis"],
  database: ["latency", "clock"],
  jobs: ["worker", "events"],
  sandboxes: ["sandboxes"],
  safety: ["key", "sealed_values", "audit_heads"],
  mail: [],
  storage: ["disk"],
  backup: ["last_backup"],
} as const;
type TileName = keyof typeof CHECKS_OF_TILE;

/** What a check is called; one that is newer than this console stands for itself. */
export function checkNameOf(name: string): string {
  const word = `check_${name}`;
  return isWord(word) ? say(word) : name.replaceAll("_", " ");
}

/** What a check found; where several found something, each begins with its name. */
export const describeFinding = ({ name, detail }: Check, isNamed: boolean): string =>
  isNamed ? say("finding", { name: checkNameOf(name), detail: translateSentence(detail) }) : translateSentence(detail);

const toneOf = (checks: Check[]): Tone =>
  checks.some(({ status }) => status === "fail")
    ? "bad"
    : checks.some(({ status }) => status === "warn")
      ? "warn"
      : "ok";

const sumOf = (queues: QueueState[], count: "waiting" | "running" | "failed") =>
  queues.reduce((sum, queue) => sum + queue[count], 0);

export const isQueueBehind = ({ oldest_waiting_s }: QueueState) => (oldest_waiting_s ?? 0) > BEHIND_SECONDS;

type TileText = { fact: string; note?: string; tone?: Tone };

const TEXTS: Record<TileName, (overview: Overview, checks: Check[]) => TileText> = {
  server: ({ versions: { retinue, python, commit } }) => ({
    fact: say("serverFact", { version: retinue }),
    note: [say("python", { version: python }), commit && say("commit", { commit: commit.slice(0, COMMIT_LENGTH) })]
      .filter(Boolean)
      .join(" · "),
  }),
  database: ({ versions }, checks) => ({
    fact: versions.database,
    note: checks.filter(({ name }) => name === "latency").map(({ detail }) => translateSentence(detail))[0],
  }),
  jobs: ({ queues }) => {
    const failed = sumOf(queues, "failed");
    return {
      fact: say("jobsFact", { waiting: sumOf(queues, "waiting"), running: sumOf(queues, "running") }),
      note: failed ? say("jobsFailed", { count: failed }) : say("noneFailed"),
      tone: failed || queues.some(isQueueBehind) ? "warn" : "ok",
    };
  },
  sandboxes: (_, [check]) => ({
    fact:
      check?.status === "ok" ? say("sandboxesReady", { count: check.detail.split(", ").length }) : say("sandboxesPart"),
    note: check && translateSentence(check.detail),
  }),
  safety: (_, checks) => ({
    fact: say(checks.some(({ name, status }) => name === "key" && status !== "ok") ? "vaultSealed" : "vaultOpen"),
    note: say(checks.some(({ name, status }) => name === "audit_heads" && status !== "ok") ? "logsCut" : "logsWhole"),
  }),
  mail: ({ mail: { transport, waiting, oldest_at } }) => {
    const isLate = oldest_at !== null && Date.now() - Date.parse(oldest_at) > MAIL_LATE_MS;
    return {
      fact: say(transport === "smtp" ? "mailBySmtp" : "mailToFiles"),
      note: waiting ? say("mailsWait", { count: waiting }) : say("noMailWaits"),
      tone: isLate ? "warn" : transport === "smtp" ? "ok" : "idle",
    };
  },
  storage: ({ storage: { free_bytes, total_bytes, files } }) => ({
    fact: say("storageFact", { free: formatBytes(free_bytes), total: formatBytes(total_bytes) }),
    note: say(files === "s3" ? "filesInS3" : "filesInFolder"),
  }),
  backup: ({ last_backup }) =>
    last_backup
      ? {
          fact: say("backupFact", {
            when: formatTimeOfDay(last_backup.created_at),
            size: formatBytes(last_backup.bytes),
          }),
          note: last_backup.file,
        }
      : { fact: say("noBackup"), note: say("noBackupNote") },
};

const worstOf = (one: Tone, other: Tone = "ok"): Tone =>
  (["bad", "warn", "idle"] as const).find((tone) => one === tone || other === tone) ?? "ok";

/** The checks in few tiles: what it is, how it is, and which checks found something. */
export function describeTiles(overview: Overview): CheckTile[] {
  const known = new Set<string>(Object.values(CHECKS_OF_TILE).flat());
  const tiles = (Object.keys(CHECKS_OF_TILE) as TileName[]).map((key): CheckTile => {
    const names: readonly string[] = CHECKS_OF_TILE[key];
    const checks = overview.checks.filter(({ name }) => names.includes(name));
    const { tone, ...texts } = TEXTS[key](overview, checks);
    return {
      key,
      name: say(`tile_${key}`),
      tone: worstOf(toneOf(checks), tone),
      ...texts,
      findings: checks.filter(({ status }) => status !== "ok"),
    };
  });
  const others = overview.checks
    .filter(({ name }) => !known.has(name))
    .map(
      (check): CheckTile => ({
        key: check.name,
        name: checkNameOf(check.name),
        tone: toneOf([check]),
        fact: translateSentence(check.detail),
        findings: [],
      }),
    );
  return [...tiles, ...others];
}

export type Concern = {
  key: string;
  tone: "bad" | "warn";
  title: string;
  text: string;
  queue?: string;
  isFailed?: boolean;
};

/** What needs somebody now, the gravest first: checks that fail, queues that are behind, jobs that were given up. */
export function listConcerns({ checks, queues }: Overview): Concern[] {
  const failed = sumOf(queues, "failed");
  return [
    ...checks
      .filter(({ status }) => status === "fail")
      .map(
        (check): Concern => ({
          key: check.name,
          tone: "bad",
          title: checkNameOf(check.name),
          text: translateSentence(check.detail),
        }),
      ),
    ...queues.filter(isQueueBehind).map(
      (queue): Concern => ({
        key: `behind ${queue.name}`,
        tone: "warn",
        title: say("behind", { queue: queue.name, time: formatDuration((queue.oldest_waiting_s ?? 0) * 1000) }),
        text: say("behindText", { count: queue.waiting }),
        queue: queue.name,
      }),
    ),
    ...(failed
      ? [
          {
            key: "failed",
            tone: "warn" as const,
            title: say("givenUp", { count: failed }),
            text: say("givenUpText"),
            isFailed: true,
          },
        ]
      : []),
  ];
}
