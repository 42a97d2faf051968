import { expect, it } from "vitest";
import { describeFinding, describeTiles, listConcerns } from "./checks";
import type { Overview } from "./queries";

const queue = (name: string, numbers: Partial<Overview["queues"][number]> = {}) => ({
  name,
  waiting: 0,
  scheduled: 0,
  running: 0,
  failed: 0,
  oldest_waiting_s: null,
  ...numbers,
});
const NAMES = [
  "latency",
  "clock",
  "audit_heads",
  "events",
  "key",
  "sealed_values",
  "disk",
  "redis",
  "worker",
  "sandboxes",
  "last_backup",
];
const overview = (change: Partial<Overview> = {}): Overview => ({
  checks: NAMES.map((name) => ({ name, status: "ok", detail: "works" })),
  queues: [queue("mail"), queue("webhooks")],
  mail: { transport: "smtp", waiting: 0, oldest_at: null },
  storage: { free_bytes: 18_400_000_000, total_bytes: 47_000_000_000, files: "folder" },
  last_backup: null,
  versions: { retinue: "0.1.0", commit: "0123456789abcdef", python: "3.13.1", database: "PostgreSQL 17.2" },
  ...change,
});
const withCheck = (name: string, status: "warn" | "fail", detail: string) =>
  overview({ checks: overview().checks.map((check) => (check.name === name ? { name, status, detail } : check)) });
const tileOf = (of: Overview, key: string) => describeTiles(of).find((tile) => tile.key === key);

it("needs nobody while all is well", () => {
  expect(listConcerns(overview())).toEqual([]);
  expect(describeTiles(overview()).map(({ tone }) => tone)).toEqual(Array(8).fill("ok"));
});

it.each([
  ["worker", "jobs"],
  ["clock", "database"],
  ["sealed_values", "safety"],
  ["redis", "server"],
])("marks the tile of the check %s", (name, key) => {
  const tile = tileOf(withCheck(name, "fail", "does not work"), key);
  expect([tile?.tone, tile?.findings.map((check) => check.name)]).toEqual(["bad", [name]]);
});

it("gives a check that it does not know a tile of its own", () => {
  const tiles = describeTiles(overview({ checks: [{ name: "newer_part", status: "warn", detail: "is slow" }] }));
  expect(tiles.at(-1)).toMatchObject({ name: "newer part", tone: "warn", fact: "is slow" });
});

it("says what fails, what is behind and what was given up, the gravest first", () => {
  const busy = [
    queue("webhooks", { waiting: 388, oldest_waiting_s: 180, failed: 14 }),
    queue("mail", { oldest_waiting_s: 2 }),
  ];
  const concerns = listConcerns({ ...withCheck("disk", "fail", "does not work"), queues: busy });
  expect(concerns.map(({ tone, title, queue: name }) => [tone, title, name])).toEqual([
    ["bad", "Disk", undefined],
    ["warn", "The queue webhooks is behind by 3 min 0 s.", "webhooks"],
    ["warn", "14 jobs were given up.", undefined],
  ]);
});

it("tells a mail server from files, and mails that wait too long", () => {
  const old = new Date(Date.now() - 3_600_000).toISOString();
  const tone = (mail: Overview["mail"]) => tileOf(overview({ mail }), "mail")?.tone;
  expect(tone({ transport: "outbox", waiting: 0, oldest_at: null })).toBe("idle");
  expect(tone({ transport: "smtp", waiting: 2, oldest_at: old })).toBe("warn");
});

it("names the finding of a check where it is not the only one", () => {
  const check = { name: "latency", status: "warn" as const, detail: "80.0 ms for an empty query" };
  expect(describeFinding(check, true)).toBe("Answer of the database: 80.0 ms for an empty query");
  expect(describeFinding(check, false)).toBe("80.0 ms for an empty query");
});
