// @vitest-environment jsdom
import { selectHostedWords } from "@retinue/words/hosted";
import { afterEach, expect, it, vi } from "vitest";
import { createSignInGate } from "./gate";
import { MemberConversation, toStoredMessage } from "./member_conversation";
import { PageConversation } from "./page_conversation";
import { MemberToken, readWidgetDesign } from "./page_service";
import { createReplyActions } from "./reply_actions";
import { SentenceSpeaker } from "./sentences";
import { VoiceButton } from "./voice";

afterEach(() => {
  vi.unstubAllGlobals();
  localStorage.clear();
});

const answer = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

it("says what is written sentence by sentence, and each once", () => {
  const said: string[] = [];
  const speaker = new SentenceSpeaker((sentence) => said.push(sentence));
  const text = "Take the Rondo. It costs 3.50 euros! Really";
  for (let length = 1; length <= text.length; length += 1) speaker.hear(text.slice(0, length));
  expect(said).toEqual(["Take the Rondo.", "It costs 3.50 euros!"]);
  speaker.finish(text);
  speaker.finish("What was said before a reload is not read aloud.");
  expect(said.slice(2)).toEqual(["Really"]);
});

it("shows members what became of their messages", () => {
  const reply = { id: "msg_1", role: "assistant", content: "Half", status: "incomplete", attachments: [] };
  const show = (finish_reason: string) => {
    const { is_waiting, has_failed } = toStoredMessage({ ...reply, details: { finish_reason, sources: [] } } as never);
    return [is_waiting, has_failed];
  };
  expect(show("awaiting_approval")).toEqual([true, false]);
  expect(show("cancelled")).toEqual([false, false]);
  expect(show("error")).toEqual([false, true]);
});

it("asks for no token where nobody has signed in, and renews one before it ends", async () => {
  const renew = vi.fn(async () => answer({ access_token: "token", expires_in: 900 }));
  vi.stubGlobal("fetch", renew);
  const token = new MemberToken("");
  expect(await token.find()).toBeUndefined();
  expect(renew).not.toHaveBeenCalled();
  localStorage.setItem("retinue.signed-in", "1");
  expect([await token.find(), await token.find()]).toEqual(["token", "token"]);
  expect(renew).toHaveBeenCalledOnce();
  token.forget();
  await token.find();
  expect(renew).toHaveBeenCalledTimes(2);
});

it("sends members' messages with their own token, in the conversation that was begun", async () => {
  const sent: [string, RequestInit][] = [];
  const events = 'event: message_start\ndata: {"message_id":"msg_1","conversation_id":"conv_1"}\n\n';
  vi.stubGlobal("fetch", async (address: string, options: RequestInit) => {
    sent.push([address, options]);
    return new Response(`${events}event: message_stop\ndata: {"message_id":"msg_1"}\n\n`);
  });
  const token = { find: async () => "token", forget: () => undefined } as unknown as MemberToken;
  const chat = new MemberConversation("", "agt_1", token);
  const listener = { hear: () => undefined, begin: () => undefined, report: () => undefined };
  for (const text of ["One", "Two"])
    await chat.sendQuestion({ text, files: [] }, listener, new AbortController().signal);
  expect(sent.map(([address]) => address)).toEqual(Array(2).fill("/api/v1/agents/agt_1/chat/stream"));
  expect(sent.map(([, { headers }]) => (headers as Record<string, string>).Authorization)).toEqual(
    Array(2).fill("Bearer token"),
  );
  expect(sent.map(([, { body }]) => JSON.parse(String(body)))).toEqual([
    { message: "One" },
    { message: "Two", conversation_id: "conv_1" },
  ]);
});

it("reads the end of a long conversation of a member", async () => {
  const all = Array.from({ length: 230 }, (_, i) => ({ id: `msg_${i + 1}`, role: "user", content: "Hi" }));
  vi.stubGlobal("fetch", async (address: string) => {
    const query = new URL(address, "http://retinue").searchParams;
    const [page, size] = [Number(query.get("page")), Number(query.get("per_page"))];
    return answer({ data: all.slice((page - 1) * size, page * size), pagination: { total: all.length } });
  });
  const token = { find: async () => "token", forget: () => undefined } as unknown as MemberToken;
  const chat = new MemberConversation("", "agt_1", token);
  expect(await chat.loadMessages()).toEqual([]);
  localStorage.setItem(`retinue-chat:agt_1:member::${chat.sessionId}:conversation`, "conv_1");
  for (const [total, first] of [
    [230, 131],
    [130, 31],
    [100, 1],
    [3, 1],
  ] as const) {
    all.length = total;
    const shown = (await chat.loadMessages()).map(({ id }) => id);
    expect([shown[0], shown.at(-1), shown.length]).toEqual([`msg_${first}`, `msg_${total}`, total - first + 1]);
  }
});

class FakeRecorder extends EventTarget {
  static isTypeSupported = () => true;
  static isBroken = false;
  state = "inactive";
  constructor() {
    super();
    if (FakeRecorder.isBroken) throw new DOMException("Not here", "NotSupportedError");
  }
  start() {
    this.state = "recording";
  }
  stop() {
    this.state = "inactive";
    this.dispatchEvent(new Event("stop"));
  }
}

/** A page with a microphone that is granted when the test says so. */
function showVoiceButton({ isBroken = false } = {}) {
  FakeRecorder.isBroken = isBroken;
  const microphones: { stop: ReturnType<typeof vi.fn>; grant: () => void }[] = [];
  const getUserMedia = vi.fn(
    () =>
      new Promise((grant) => {
        const stop = vi.fn();
        microphones.push({ stop, grant: () => grant({ getTracks: () => [{ stop }] }) });
      }),
  );
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia } });
  vi.stubGlobal("MediaRecorder", FakeRecorder);
  vi.stubGlobal(
    "DataTransfer",
    class {
      files: File[] = [];
      items = { add: (file: File) => this.files.push(file) };
    },
  );
  const [add, complain] = [vi.fn(), vi.fn()];
  const words = selectHostedWords("en");
  const voice = new VoiceButton(words, { add } as never, complain);
  const readState = () => ["aria-disabled", "aria-pressed"].map((name) => voice.element.getAttribute(name));
  return { voice, words, microphones, add, complain, readState };
}

it("asks for the microphone once, however often it is clicked", async () => {
  const { voice, microphones, add, readState } = showVoiceButton();
  voice.element.click();
  voice.element.click();
  expect([microphones.length, readState()]).toEqual([1, ["true", "false"]]);
  microphones[0]?.grant();
  await vi.waitFor(() => expect(readState()).toEqual(["false", "true"]));
  voice.element.click();
  expect(microphones[0]?.stop).toHaveBeenCalledOnce();
  expect(add).toHaveBeenCalledOnce();
});

it("lets go of a microphone that it cannot record from", async () => {
  const { voice, words, microphones, complain, readState } = showVoiceButton({ isBroken: true });
  voice.element.click();
  microphones[0]?.grant();
  await vi.waitFor(() => expect(complain).toHaveBeenLastCalledWith(words.noMicrophone));
  expect(microphones[0]?.stop).toHaveBeenCalledOnce();
  expect(readState()).toEqual(["false", "false"]);
});

it("lets go of the microphone when the page is gone, also if it was granted only then", async () => {
  const { voice, microphones, add, readState } = showVoiceButton();
  voice.element.click();
  voice.release();
  microphones[0]?.grant();
  await vi.waitFor(() => expect(microphones[0]?.stop).toHaveBeenCalledOnce());
  voice.element.click();
  microphones[1]?.grant();
  await vi.waitFor(() => expect(readState()).toEqual(["false", "true"]));
  voice.release();
  expect(microphones[1]?.stop).toHaveBeenCalledOnce();
  expect(add).not.toHaveBeenCalled();
});

it("tells the page when there is no answer for now", async () => {
  vi.stubGlobal("fetch", async () => answer({ error: { code: "rate_limited", details: { scope: {} } } }, 429));
  const chat = new PageConversation({ baseUrl: "", agentId: "agt_1", apiKey: "emb_1" });
  chat.onRefused = vi.fn();
  const listener = { hear: () => undefined, begin: () => undefined, report: () => undefined };
  const asked = chat.sendQuestion({ text: "One", files: [] }, listener, new AbortController().signal);
  await expect(asked).rejects.toThrow("cannotAnswer");
  expect(chat.onRefused).toHaveBeenCalledOnce();
});

it("takes a rating back when it is chosen again", async () => {
  const rateReply = vi.fn(async () => undefined);
  const words = selectHostedWords("en");
  const bubble = document.createElement("div");
  const actions = createReplyActions(words, { rateReply } as never, { bubble, text: "Yes.", messageId: "msg_1" });
  const good = actions.querySelector<HTMLElement>(`[aria-label="${words.good}"]`);
  good?.click();
  await vi.waitFor(() => expect(good?.getAttribute("aria-pressed")).toBe("true"));
  good?.click();
  await vi.waitFor(() => expect(good?.getAttribute("aria-pressed")).toBe("false"));
  expect(rateReply.mock.calls).toEqual([
    ["msg_1", "positive"],
    ["msg_1", "none"],
  ]);
});

it("says nothing about whose page it is before the sign-in", () => {
  const words = selectHostedWords("de");
  const gate = createSignInGate(words, "signIn", {
    signIn: "/console/sign-in?to=%2Fc%2Flamp-desk",
    retry: () => undefined,
  });
  expect(gate.querySelector("a")?.getAttribute("href")).toBe("/console/sign-in?to=%2Fc%2Flamp-desk");
  expect(gate.textContent).toContain(words.signInText);
  expect(readWidgetDesign({ audience: "members" } as never)).toEqual({ settings: {}, allow_attachments: false });
});
