/**
 * State outside React. It holds one immutable snapshot and replaces it on each change; a component reads it with
 * `useSyncExternalStore(store.subscribe, store.getSnapshot)`.
 */
export abstract class Store<State extends object> {
  #snapshot: State;
  readonly #listeners = new Set<() => void>();

  constructor(initial: State) {
    this.#snapshot = initial;
  }

  readonly getSnapshot = (): State => this.#snapshot;

  /** Listen to changes. The first listener starts the work of the store; it stops when the last one leaves. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.activate();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.deactivate();
    };
  };

  /** Begin what the store does by itself while somebody looks at it, such as reading or listening. */
  protected activate(): void {}
  protected deactivate(): void {}

  protected update(part: Partial<State>): void {
    this.#snapshot = { ...this.#snapshot, ...part };
    for (const listener of [...this.#listeners]) listener();
  }
}
