import { expect, test } from "vitest";
import { ApiError, createUnreachableError } from "../../../api/errors";
import type { Edits, UnsavedDraft } from "../../../shared/agent/unsaved";
import type { Snapshot, TaggedDraft } from "./draft";
import { DraftSaver } from "./draft_saver";

const CONFLICT = new ApiError(412, "draft_changed", "Somebody changed it.", { updated_by: "usr_2" });
const draftOf = (etag: string, basedOn = 3) => ({ etag, based_on: basedOn, snapshot: {} as Snapshot }) as TaggedDraft;
const settled = () => new Promise((done) => setTimeout(done));

/** A server with one draft, a browser that keeps edits, and a clock that stands still until a test winds it. */
class FakeWorld {
  /** The draft on the server; somebody else may change it. */
  draft = draftOf("e1");
  unsaved: UnsavedDraft | undefined;
  sent: { edits: Edits; etag: string }[] = [];
  cached: string[] = [];
  noted: Promise<void>[] = [];
  isDiscarded = false;
  /** Why the server refuses the next saves. */
  refusal: Error | undefined;
  /** Holds back the answers to saves. */
  gate: Promise<void> = Promise.resolve();
  scheduled: { run: () => void; ms: number } | undefined;
  showDraft: (draft: TaggedDraft) => void = () => undefined;
  comeBack: () => void = () => undefined;

  newSaver() {
    return new DraftSaver({
      load: async () => this.draft,
      save: async (edits, etag) => {
        this.sent.push({ edits, etag });
        await this.gate;
        if (this.refusal) throw this.refusal;
        if (etag !== this.draft.etag) throw CONFLICT;
        this.draft = draftOf(`e${this.sent.length + 1}`);
        return this.draft;
      },
      discard: async () => {
        this.isDiscarded = true;
        this.draft = draftOf("fresh");
      },
      cache: ({ etag }) => this.cached.push(etag),
      watch: (onDraft) => {
        this.showDraft = onDraft;
        return () => {
          this.showDraft = () => undefined;
        };
      },
      watchConnection: (onBack) => {
        this.comeBack = onBack;
        return () => {
          this.comeBack = () => undefined;
        };
      },
      readUnsaved: () => this.unsaved,
      keepUnsaved: (unsaved) => {
        this.unsaved = Object.keys(unsaved.edits).length ? unsaved : undefined;
      },
      noteSave: (save) => {
        save.catch(() => undefined);
        this.noted.push(save);
      },
      schedule: (run, ms) => {
        const scheduled = { run, ms };
        this.scheduled = scheduled;
        return () => {
          if (this.scheduled === scheduled) this.scheduled = undefined;
        };
      },
    });
  }

  /** Let the time pass that a save waits for. */
  wind() {
    const { scheduled } = this;
    this.scheduled = undefined;
    scheduled?.run();
    return settled();
  }
}

/** A page that shows the draft of a world. */
function open(world = new FakeWorld()) {
  const saver = world.newSaver();
  const leave = saver.subscribe(() => undefined);
  world.showDraft(world.draft);
  return { world, saver, leave };
}
const stateOf = (saver: DraftSaver) => saver.getSnapshot().state;

test("a change is saved two seconds after the last one, with all that was typed", async () => {
  const { world, saver } = open();
  saver.edit({ name: "Cle" });
  saver.edit({ name: "Clerk" });
  saver.edit({ description: "Helps" });
  expect(stateOf(saver)).toBe("changed");
  expect(world.scheduled?.ms).toBe(2000);
  expect(world.unsaved).toMatchObject({ edits: { name: "Clerk", description: "Helps" }, etag: "e1", basedOn: 3 });
  await world.wind();
  expect(world.sent).toEqual([{ edits: { name: "Clerk", description: "Helps" }, etag: "e1" }]);
  expect(saver.getSnapshot()).toMatchObject({ edits: {}, state: "saved" });
  expect(world.cached).toEqual(["e2"]);
  expect(world.unsaved).toBeUndefined();
});

test("saving at once does not wait, and saves nothing where nothing was typed", async () => {
  const { world, saver } = open();
  await saver.save();
  expect(world.sent).toEqual([]);
  expect(stateOf(saver)).toBe("saved");
  saver.edit({ name: "Clerk" });
  await saver.save();
  expect(world.sent).toHaveLength(1);
  expect(world.scheduled).toBeUndefined();
});

test("what is typed during a save goes with the next one, which waits for the first", async () => {
  const { world, saver } = open();
  let answer = () => {};
  world.gate = new Promise((done) => {
    answer = done;
  });
  saver.edit({ name: "Clerk", description: "Helps" });
  const first = saver.save();
  await settled();
  expect(stateOf(saver)).toBe("saving");
  saver.edit({ name: "Clerks" });
  const second = saver.save();
  await settled();
  expect(world.sent).toHaveLength(1);
  answer();
  await Promise.all([first, second]);
  expect(world.sent.slice(1)).toEqual([{ edits: { name: "Clerks" }, etag: "e2" }]);
  expect(stateOf(saver)).toBe("saved");
});

test("a save that fails keeps the edits and says why; the next change tries again", async () => {
  const { world, saver } = open();
  world.refusal = createUnreachableError();
  saver.edit({ name: "Clerk" });
  await expect(saver.save()).rejects.toBe(world.refusal);
  expect(saver.getSnapshot()).toMatchObject({ state: "failed", edits: { name: "Clerk" } });
  expect(saver.getSnapshot().error?.code).toBe("server_gone");
  expect(world.unsaved?.edits).toEqual({ name: "Clerk" });
  world.refusal = undefined;
  saver.edit({ description: "Helps" });
  await world.wind();
  expect(world.sent.at(-1)?.edits).toEqual({ name: "Clerk", description: "Helps" });
  expect(saver.getSnapshot()).toMatchObject({ state: "saved", error: undefined });
});

test("once the connection is back, what could not be saved is saved", async () => {
  const { world, saver } = open();
  world.refusal = createUnreachableError();
  saver.edit({ name: "Clerk" });
  await world.wind();
  world.refusal = undefined;
  world.comeBack();
  await settled();
  expect(stateOf(saver)).toBe("saved");
});

/** A page whose edits were refused because somebody else changed the draft. */
async function openConflict() {
  const opened = open();
  opened.world.draft = draftOf("theirs", 4);
  opened.saver.edit({ name: "Mine" });
  await opened.world.wind();
  return opened;
}

test("a draft that somebody else changed is a conflict, and nothing is sent until the person decides", async () => {
  const { world, saver } = await openConflict();
  expect(saver.getSnapshot()).toMatchObject({ state: "conflict", basedOn: 3 });
  expect(saver.getSnapshot().error?.details.updated_by).toBe("usr_2");
  saver.edit({ description: "More" });
  expect(world.scheduled).toBeUndefined();
  await expect(saver.save()).rejects.toBe(CONFLICT);
  world.comeBack();
  await settled();
  expect(world.sent).toHaveLength(1);
  expect(saver.getSnapshot()).toMatchObject({ state: "conflict", edits: { name: "Mine", description: "More" } });
});

test("a conflict ends with the own text, over theirs", async () => {
  const { world, saver } = await openConflict();
  await saver.keepMine();
  expect(world.sent.at(-1)).toEqual({ edits: { name: "Mine" }, etag: "theirs" });
  expect(world.cached[0]).toBe("theirs");
  expect(stateOf(saver)).toBe("saved");
});

test("a conflict ends with their text, and what could not be part of the edits goes too", async () => {
  const { world, saver } = await openConflict();
  saver.setProblem("No JSON.");
  await saver.loadTheirs();
  expect(saver.getSnapshot()).toMatchObject({ edits: {}, state: "saved", problem: undefined, revision: 1, basedOn: 4 });
  expect(world.unsaved).toBeUndefined();
  saver.edit({ name: "Later" });
  await saver.save();
  expect(world.sent.at(-1)?.etag).toBe("theirs");
});

test("a draft that changes elsewhere while something is typed does not become its base", async () => {
  const { world, saver } = open();
  world.showDraft(draftOf("e0"));
  saver.edit({ name: "Mine" });
  world.showDraft(draftOf("theirs"));
  await world.wind();
  expect(world.sent[0]?.etag).toBe("e0");
});

test("discarding waits for a save and throws away the edits and the draft", async () => {
  const { world, saver } = open();
  saver.edit({ name: "Mine" });
  await saver.discard();
  expect(world.isDiscarded).toBe(true);
  expect(world.sent).toEqual([]);
  expect(world.scheduled).toBeUndefined();
  expect(saver.getSnapshot()).toMatchObject({ edits: {}, state: "saved", revision: 1 });
  expect(world.cached).toEqual(["fresh"]);
});

test("a page that is left saves what waits, and no longer listens", async () => {
  const { world, saver, leave } = open();
  saver.edit({ name: "Clerk" });
  leave();
  await settled();
  expect(world.sent).toHaveLength(1);
  expect(world.noted).toHaveLength(1);
  await Promise.all(world.noted);
  world.comeBack();
  await settled();
  expect(world.noted).toHaveLength(1);
});

test("a page that is left before anything was typed saves nothing", async () => {
  const { world, leave } = open();
  leave();
  await settled();
  expect(world.noted).toEqual([]);
});

test("edits of before a reload are saved on their own base, once the draft is there", async () => {
  const world = new FakeWorld();
  world.unsaved = { edits: { name: "Kept" }, etag: "e0", basedOn: 2 };
  const saver = world.newSaver();
  saver.subscribe(() => undefined);
  expect(saver.getSnapshot()).toMatchObject({ edits: { name: "Kept" }, state: "changed", basedOn: 2 });
  expect(world.scheduled).toBeUndefined();
  world.showDraft(world.draft);
  await world.wind();
  expect(world.sent).toEqual([{ edits: { name: "Kept" }, etag: "e0" }]);
  expect(stateOf(saver)).toBe("conflict");
});

test("edits that were kept without a base take that of the draft", async () => {
  const world = new FakeWorld();
  world.unsaved = { edits: { name: "Kept" }, etag: "" };
  const { saver } = open(world);
  expect(world.scheduled).toBeUndefined();
  await saver.save();
  expect(world.sent[0]?.etag).toBe("e1");
});
