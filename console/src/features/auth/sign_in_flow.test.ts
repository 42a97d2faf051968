import { expect, test, vi } from "vitest";
import { ApiError } from "../../api/errors";
import { SignInFlow } from "./sign_in_flow";

const refusal = (reason: string) => new ApiError(401, reason, "Refused.", { reason });

function start(answers: { signIn?: () => Promise<string | undefined>; verifyCode?: () => Promise<void> } = {}) {
  const calls: unknown[][] = [];
  const onSignedIn = vi.fn();
  const flow = new SignInFlow(
    {
      signIn: async (...given) => {
        calls.push(["signIn", ...given]);
        return answers.signIn?.();
      },
      verifyCode: async (...given) => {
        calls.push(["verifyCode", ...given]);
        await answers.verifyCode?.();
      },
    },
    onSignedIn,
  );
  flow.edit({ email: " ada@example.com ", password: "Secret 1" });
  return { flow, calls, onSignedIn };
}
const withSecondStep = { signIn: async () => "mfa_1" };

test("a password alone signs in", async () => {
  const { flow, calls, onSignedIn } = start();
  const sent = flow.sendPassword();
  expect(flow.getSnapshot().isBusy).toBe(true);
  await sent;
  expect(calls).toEqual([["signIn", "ada@example.com", "Secret 1", true]]);
  expect(onSignedIn).toHaveBeenCalledOnce();
  expect(flow.getSnapshot().isBusy).toBe(false);
});

test("a session that is not to be kept is asked for as such, in both steps", async () => {
  const { flow, calls } = start(withSecondStep);
  flow.edit({ isKept: false });
  await flow.sendPassword();
  await flow.sendCode("123456");
  expect(calls.map((call) => call.at(-1))).toEqual([false, false]);
});

test("an account with a second step is asked for its code, and the password is forgotten", async () => {
  const { flow, calls, onSignedIn } = start(withSecondStep);
  await flow.sendPassword();
  expect(flow.getSnapshot()).toMatchObject({ mfaToken: "mfa_1", password: "", usesRecovery: false, isBusy: false });
  expect(onSignedIn).not.toHaveBeenCalled();
  flow.edit({ code: " 123456 " });
  await flow.sendCode();
  expect(calls.at(-1)).toEqual(["verifyCode", "mfa_1", "123456", true]);
  expect(onSignedIn).toHaveBeenCalledOnce();
});

test("a wrong password keeps what was typed, and the next attempt takes the notice away", async () => {
  const answers = { signIn: () => Promise.reject(refusal("invalid_credentials")) as Promise<string | undefined> };
  const { flow } = start(answers);
  await flow.sendPassword();
  expect(flow.getSnapshot()).toMatchObject({ password: "Secret 1", isBusy: false });
  expect(flow.getSnapshot().error?.reasonText).toBe("invalid_credentials");
  answers.signIn = async () => undefined;
  const again = flow.sendPassword();
  expect(flow.getSnapshot().error).toBeUndefined();
  await again;
});

test("a wrong code is taken away and the step stays", async () => {
  const { flow, onSignedIn } = start({ ...withSecondStep, verifyCode: () => Promise.reject(refusal("invalid_code")) });
  await flow.sendPassword();
  flow.switchCodeKind();
  flow.edit({ code: "wrong" });
  await flow.sendCode();
  expect(flow.getSnapshot()).toMatchObject({ mfaToken: "mfa_1", code: "", usesRecovery: true });
  expect(onSignedIn).not.toHaveBeenCalled();
});

test("a second step that took too long leads back to the password and says why", async () => {
  const { flow } = start({ ...withSecondStep, verifyCode: () => Promise.reject(refusal("mfa_token_invalid")) });
  await flow.sendPassword();
  await flow.sendCode("123456");
  expect(flow.getSnapshot()).toMatchObject({ mfaToken: undefined, usesRecovery: false, email: " ada@example.com " });
  expect(flow.getSnapshot().error?.reasonText).toBe("mfa_token_invalid");
});

test("no code is sent without one, nor without its first step", async () => {
  const { flow, calls } = start(withSecondStep);
  await flow.sendCode("123456");
  await flow.sendPassword();
  await flow.sendCode();
  expect(calls.map(([name]) => name)).toEqual(["signIn"]);
});

test("the kind of code can be changed, and somebody else can sign in", async () => {
  const { flow } = start(withSecondStep);
  await flow.sendPassword();
  flow.edit({ code: "12" });
  flow.switchCodeKind();
  expect(flow.getSnapshot()).toMatchObject({ usesRecovery: true, code: "" });
  flow.switchCodeKind();
  expect(flow.getSnapshot().usesRecovery).toBe(false);
  flow.startOver();
  expect(flow.getSnapshot()).toMatchObject({ mfaToken: undefined, email: " ada@example.com " });
});
