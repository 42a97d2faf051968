// @vitest-environment jsdom
import { expect, test, vi } from "vitest";
import { checkServer, waitUntilServerBack } from "../../api/connection";
import { createTurn, openReplyStream, resumeReplyStream, type Turn } from "./chat";
import { followReply } from "./follow_reply";

/** What the server answers to requests for a reply, one after the other; it is healthy all the time. */
const replies: (() => Response)[] = [];
vi.stubGlobal("fetch", async (asked: Request | string) => {
  if (typeof asked === "string") return new Response("{}");
  const reply = replies.shift();
  if (!reply) throw new TypeError("Failed to fetch");
  return reply();
});

const event = (name: string, data: unknown, id: number) =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
const START = event("message_start", { conversation_id: "con_1", message_id: "msg_1" }, 1);
const said = (text: string, id: number) => event("content_delta", { delta: text }, id);
const END = event("message_stop", { finish_reason: "stop" }, 9);

/** A stream of these events; one that is cut ends as a broken connection does. */
const stream = (isCut: boolean, ...events: string[]) =>
  new Response(
    new ReadableStream({
      async start(control) {
        for (const one of events) control.enqueue(new TextEncoder().encode(one));
        // An error empties what nobody has read yet.
        await new Promise((done) => setTimeout(done, 20));
        if (isCut) control.error(new TypeError("network error"));
        else control.close();
      },
    }),
  );

function follow(...answers: (() => Response)[]) {
  replies.splice(0, replies.length, ...answers);
  const seen: Turn[] = [];
  const end = followReply({
    turn: createTurn("Where?"),
    signal: new AbortController().signal,
    open: (signal) => openReplyStream("agt_1", "Where?", "", signal),
    resume: (messageId, after, signal) => resumeReplyStream("agt_1", messageId, after, signal),
    connection: { suspect: checkServer, whenBack: waitUntilServerBack },
    onChange: (turn) => seen.push(turn),
  });
  return { seen, end };
}

test("a reply whose connection broke goes on where it was", async () => {
  const { seen, end } = follow(
    () => stream(true, START, said("It ", 2)),
    () => stream(false, said("is here.", 3), END),
  );
  expect(await end).toMatchObject({ text: "It is here.", isLive: false, isLost: false });
  expect(seen.some(({ isLost }) => isLost)).toBe(true);
});

test("a reply that the server has lost keeps what has come", async () => {
  const expired = { error: { code: "stream_expired", message: "x" } };
  const { seen, end } = follow(
    () => stream(true, START, said("It ", 2)),
    () => new Response(JSON.stringify(expired), { status: 410 }),
  );
  await expect(end).rejects.toMatchObject({ code: "stream_expired" });
  expect(seen.at(-1)).toMatchObject({ text: "It " });
});

test("a connection that ends before anything has come is no answer", async () => {
  await expect(follow(() => stream(false)).end).rejects.toMatchObject({ code: "server_gone" });
  await expect(follow(() => stream(true)).end).rejects.toMatchObject({ code: "server_gone" });
  await expect(follow().end).rejects.toMatchObject({ code: "server_gone" });
});

test("the answer of a gateway is that of a server that is gone", async () => {
  const gateway = () => new Response("<h1>Bad gateway</h1>", { status: 502 });
  await expect(follow(gateway).end).rejects.toMatchObject({ code: "server_gone" });
});

test("a connection that breaks again and again is given up", async () => {
  await expect(follow(() => stream(true, START)).end).rejects.toMatchObject({ code: "server_gone" });
});
