import { Store } from "../store";

export const REVEALED_SECONDS = 30;
const TICK_MS = 1000;

type SecretsByKey = Record<string, unknown>;
type RevealState = { secrets?: SecretsByKey; secondsLeft: number; isBusy: boolean; error?: Error };
const HIDDEN: RevealState = { secondsLeft: 0, isBusy: false };

/**
 * Secrets in clear, for half a minute and only while somebody looks at the page. They stand in this object alone: not
 * in the cache of queries, not in the address. Reading them is audited: `read` is called once for each click.
 */
export class SecretReveal extends Store<RevealState> {
  #timer?: ReturnType<typeof setInterval>;

  constructor(readonly read: () => Promise<SecretsByKey>) {
    super(HIDDEN);
  }

  readonly reveal = async (): Promise<void> => {
    if (this.getSnapshot().isBusy) return;
    this.update({ isBusy: true, error: undefined });
    try {
      const secrets = await this.read();
      this.update({ isBusy: false, secrets, secondsLeft: REVEALED_SECONDS });
      clearInterval(this.#timer);
      this.#timer = setInterval(() => this.#countDown(), TICK_MS);
    } catch (error) {
      this.update({ ...HIDDEN, secrets: undefined, error: error as Error });
    }
  };

  readonly hide = (): void => {
    clearInterval(this.#timer);
    this.update({ ...HIDDEN, secrets: undefined, error: undefined });
  };

  protected override activate(): void {
    document.addEventListener("visibilitychange", this.#hideWhenLeft);
  }

  protected override deactivate(): void {
    document.removeEventListener("visibilitychange", this.#hideWhenLeft);
    this.hide();
  }

  #hideWhenLeft = () => {
    if (document.hidden) this.hide();
  };

  #countDown(): void {
    const secondsLeft = this.getSnapshot().secondsLeft - 1;
    if (secondsLeft <= 0) this.hide();
    else this.update({ secondsLeft });
  }
}
