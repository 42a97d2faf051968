import { ApiError, asApiError } from "../../../api/errors";
import type { Edits, UnsavedDraft } from "../../../shared/agent/unsaved";
import type { Schedule } from "../../../shared/schedule";
import { dropSentEdits } from "../../../shared/sent_edits";
import { Store } from "../../../shared/store";
import type { TaggedDraft } from "./draft";

const SAVE_WAIT_MS = 2000;
const isConflictError = (error: unknown) => error instanceof ApiError && error.status === 412;
const hasNoEdits = (edits: Edits) => Object.keys(edits).length === 0;

export type DraftSaveState = "saved" | "changed" | "saving" | "failed" | "conflict";
export type DraftSaverState = {
  /** What was typed and the server does not have yet. */
  edits: Edits;
  state: DraftSaveState;
  error?: ApiError;
  /** Why something that was typed is not among the edits, and how often such text was thrown away. */
  problem?: string;
  revision: number;
  /** The version that the edits were made on. */
  basedOn?: number;
};

export type DraftSaverOptions = {
  load: () => Promise<TaggedDraft>;
  save: (edits: Edits, etag: string) => Promise<TaggedDraft>;
  discard: () => Promise<void>;
  /** Show a draft wherever the page reads it. */
  cache: (draft: TaggedDraft) => void;
  /** Call `onDraft` with the draft that the page shows, now and whenever another one arrives. */
  watch: (onDraft: (draft: TaggedDraft) => void) => () => void;
  /** Call `onBack` when this browser is online again and when its server answers again. */
  watchConnection: (onBack: () => void) => () => void;
  /** Edits that outlive this page, for when they cannot be saved. */
  readUnsaved: () => UnsavedDraft | undefined;
  keepUnsaved: (unsaved: UnsavedDraft) => void;
  /** Let other screens wait for a save. */
  noteSave: (save: Promise<void>) => void;
  schedule: Schedule;
};

/** What was typed into a draft; it is saved two seconds after the last change. */
export class DraftSaver extends Store<DraftSaverState> {
  readonly #options: DraftSaverOptions;
  #etag: string;
  #hasUnsaved: boolean;
  /** The refusal because somebody else changed the draft, until the person has decided. */
  #conflict: unknown;
  #running: Promise<void> | undefined;
  #cancelScheduled: (() => void) | undefined;
  #stopWatching: (() => void)[] = [];

  constructor(options: DraftSaverOptions) {
    const unsaved = options.readUnsaved();
    super({
      edits: unsaved?.edits ?? {},
      state: unsaved ? "changed" : "saved",
      revision: 0,
      basedOn: unsaved?.basedOn,
    });
    this.#options = options;
    this.#etag = unsaved?.etag ?? "";
    this.#hasUnsaved = Boolean(unsaved);
  }

  readonly edit = (fields: Edits) => {
    this.#keep({ ...this.getSnapshot().edits, ...fields });
    if (this.#conflict) return;
    this.update({ state: "changed" });
    this.#scheduleSave();
  };

  /** Note why a text cannot be part of the edits; without a reason it can. */
  readonly setProblem = (problem?: string) => this.update({ problem });

  /** Save at once, after a save that is under way; rejects if the server refuses. */
  readonly save = async () => {
    this.#cancelScheduled?.();
    await this.#running?.catch(() => undefined);
    // After a conflict the person decides; a save would only be refused again.
    if (this.#conflict) throw this.#conflict;
    this.#running = this.#send();
    this.#options.noteSave(this.#running);
    await this.#running;
  };

  /** Replace the edits by the draft that the server has. */
  async loadTheirs() {
    this.#cancelScheduled?.();
    this.#accept(await this.#options.load());
    this.#conflict = undefined;
    this.#keep({});
    this.update({ problem: undefined, revision: this.getSnapshot().revision + 1, state: "saved" });
  }

  /** Save the edits over the draft that the server has. */
  async keepMine() {
    this.#accept(await this.#options.load());
    this.#conflict = undefined;
    await this.save();
  }

  /** Throw away the edits and the draft on the server. */
  async discard() {
    this.#cancelScheduled?.();
    await this.#running?.catch(() => undefined);
    await this.#options.discard();
    await this.loadTheirs();
  }

  protected override activate() {
    const { watch, watchConnection } = this.#options;
    this.#stopWatching = [watch((draft) => this.#rebase(draft)), watchConnection(() => this.#saveQuietly())];
  }

  /** The page is left: what waits for its two seconds is saved at once. */
  protected override deactivate() {
    for (const stopWatching of this.#stopWatching) stopWatching();
    if (this.#cancelScheduled) this.#saveQuietly();
  }

  async #send() {
    const sent = this.getSnapshot().edits;
    if (hasNoEdits(sent)) return;
    this.update({ state: "saving" });
    try {
      this.#accept(await this.#options.save(sent, this.#etag));
      const rest = dropSentEdits(this.getSnapshot().edits, sent);
      this.#keep(rest);
      this.update({ error: undefined, state: hasNoEdits(rest) ? "saved" : "changed" });
    } catch (caught) {
      this.#conflict = isConflictError(caught) ? caught : undefined;
      this.update({ error: asApiError(caught), state: this.#conflict ? "conflict" : "failed" });
      throw caught;
    }
  }

  /** Saves that nobody waits for: the state says how they ended. */
  #saveQuietly() {
    void this.save().catch(() => undefined);
  }

  #scheduleSave() {
    this.#cancelScheduled?.();
    this.#cancelScheduled = this.#options.schedule(() => this.#saveQuietly(), SAVE_WAIT_MS);
  }

  /** The first draft that arrives is what later edits are based on; edits from before a reload have their own base. */
  #rebase(draft: TaggedDraft) {
    if (!draft.etag) return;
    if (!this.#etag || hasNoEdits(this.getSnapshot().edits)) this.#setBase(draft);
    else if (this.#hasUnsaved) this.#scheduleSave();
    this.#hasUnsaved = false;
  }

  #accept(draft: TaggedDraft) {
    this.#setBase(draft);
    this.#options.cache(draft);
  }

  #setBase({ etag, based_on: basedOn }: TaggedDraft) {
    this.#etag = etag;
    if (basedOn !== this.getSnapshot().basedOn) this.update({ basedOn });
  }

  #keep(edits: Edits) {
    this.update({ edits });
    this.#options.keepUnsaved({ edits, etag: this.#etag, basedOn: this.getSnapshot().basedOn });
  }
}
