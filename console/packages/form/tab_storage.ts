import { parseJson } from "@retinue/elements";

/** A value that survives a reload of the tab, if the page has storage. */
export class TabStorage {
  constructor(private readonly name: string) {}

  read(): string | null {
    try {
      return sessionStorage.getItem(this.name);
    } catch {
      return null;
    }
  }

  write(value: string | null) {
    try {
      if (value === null) sessionStorage.removeItem(this.name);
      else sessionStorage.setItem(this.name, value);
    } catch {
      // Without storage, a reload starts again.
    }
  }
}

/** The text in the field, and the answer that was sent without a confirmation. */
type UnsentText = { text?: string; unconfirmed?: string | null };

/** What was written in a conversation and is not known to have arrived, kept for the tab. */
export class UnsentAnswer {
  private readonly storage: TabStorage;

  constructor(name: string) {
    this.storage = new TabStorage(name);
  }

  read(): UnsentText {
    return parseJson<UnsentText>(this.storage.read()) ?? {};
  }

  write(change: UnsentText) {
    const unsent = { ...this.read(), ...change };
    this.storage.write(unsent.text || unsent.unconfirmed ? JSON.stringify(unsent) : null);
  }
}
