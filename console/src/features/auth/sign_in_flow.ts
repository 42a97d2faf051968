import { type ApiError, asApiError } from "../../api/errors";
import { Store } from "../../shared/store";

export type SignInState = {
  email: string;
  password: string;
  /** Whether the session outlives this browser window. */
  isKept: boolean;
  /** Given by the server if the account has a second step; the code is asked for as long as it is there. */
  mfaToken?: string;
  /** Whether a recovery code takes the place of the one from the app. */
  usesRecovery: boolean;
  code: string;
  error?: ApiError;
  isBusy: boolean;
};

type SignInApi = {
  /** Returns the token for the second step if the account has one. */
  signIn: (email: string, password: string, remember: boolean) => Promise<string | undefined>;
  verifyCode: (mfaToken: string, code: string, remember: boolean) => Promise<void>;
};

/** Signing in: the password, then a code if the account has a second step. */
export class SignInFlow extends Store<SignInState> {
  readonly #api: SignInApi;
  readonly #onSignedIn: () => void;

  constructor(api: SignInApi, onSignedIn: () => void) {
    super({ email: "", password: "", isKept: true, usesRecovery: false, code: "", isBusy: false });
    this.#api = api;
    this.#onSignedIn = onSignedIn;
  }

  edit(fields: Partial<Pick<SignInState, "email" | "password" | "isKept" | "code">>) {
    this.update(fields);
  }

  sendPassword(): Promise<void> {
    return this.#attempt(async () => {
      const { email, password, isKept } = this.getSnapshot();
      const mfaToken = await this.#api.signIn(email.trim(), password, isKept);
      if (!mfaToken) return this.#onSignedIn();
      this.update({ password: "", mfaToken, usesRecovery: false });
    });
  }

  sendCode(code = this.getSnapshot().code): Promise<void> {
    return this.#attempt(async () => {
      const { mfaToken, isKept } = this.getSnapshot();
      if (!mfaToken || !code) return;
      await this.#api.verifyCode(mfaToken, code.trim(), isKept);
      this.#onSignedIn();
    });
  }

  /** Change between the code from the app and a recovery code. */
  switchCodeKind() {
    this.update({ code: "", usesRecovery: !this.getSnapshot().usesRecovery });
  }

  /** Go back to the password, for another account. */
  startOver() {
    this.update({ mfaToken: undefined, usesRecovery: false });
  }

  async #attempt(work: () => Promise<void>) {
    this.update({ isBusy: true, error: undefined });
    try {
      await work();
    } catch (caught) {
      const error = asApiError(caught);
      this.update({ error, code: "" });
      // The second step took too long: its token has expired, and a new one needs the password.
      if (error.reasonText === "mfa_token_invalid") this.startOver();
    } finally {
      this.update({ isBusy: false });
    }
  }
}
