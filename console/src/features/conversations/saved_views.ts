import { Store } from "../../shared/store";

/** A set of filters with a name. `address` is the part of the address that holds them. */
export type SavedView = { name: string; address: string };
export type KeptTexts = Pick<Storage, "getItem" | "setItem">;
type State = { views: readonly SavedView[] };

export const MAX_VIEW_NAME_LENGTH = 60;
const MAX_VIEWS = 30;
const storageKeyOf = (userId: string) => `retinue.views.conversations.${userId}`;

/** Views of one person, kept in this browser: other people and other browsers do not see them. */
export class SavedViews extends Store<State> {
  readonly #key: string;
  readonly #kept: KeptTexts;

  constructor(userId: string, kept: KeptTexts = localStorage) {
    super({ views: readViews(kept, storageKeyOf(userId)) });
    this.#key = storageKeyOf(userId);
    this.#kept = kept;
  }

  /** Keep these filters under a name, in place of a view that has it. */
  readonly save = (name: string, address: string): void => {
    const view = { name: tidyName(name), address };
    if (!view.name) return;
    const others = this.getSnapshot().views.filter((one) => one.name !== view.name);
    this.#write([...others, view].slice(-MAX_VIEWS));
  };

  readonly rename = (name: string, to: string): void => {
    const wanted = tidyName(to);
    if (!wanted || wanted === name) return;
    const others = this.getSnapshot().views.filter((one) => one.name !== wanted);
    this.#write(others.map((one) => (one.name === name ? { ...one, name: wanted } : one)));
  };

  readonly remove = (name: string): void => this.#write(this.getSnapshot().views.filter((one) => one.name !== name));

  #write(views: readonly SavedView[]): void {
    this.update({ views });
    this.#kept.setItem(this.#key, JSON.stringify(views));
  }
}

const tidyName = (name: string) => name.trim().replace(/\s+/g, " ").slice(0, MAX_VIEW_NAME_LENGTH);

function readViews(kept: KeptTexts, key: string): SavedView[] {
  try {
    const read: unknown = JSON.parse(kept.getItem(key) ?? "[]");
    return Array.isArray(read) ? read.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (one: Partial<SavedView> | null): one is SavedView =>
  typeof one?.name === "string" && typeof one.address === "string";
