import { selectWidgetWords } from "@retinue/words/widget";
import { expect, it } from "vitest";
import type { ChatError } from "./chat_error";
import { PublicConversation } from "./conversation";

type Address = ConstructorParameters<typeof PublicConversation>[0];

/** A real server whose agent says "One two three": tests/e2e/test_openai_client.py starts it. */
const served = JSON.parse(process.env.SERVED_CHAT ?? "null") as Address | null;

it.runIf(served)("talks to a real server, and says why it is refused", async () => {
  const say = async (change: Partial<Address>) => {
    const pieces: string[] = [];
    const conversation = new PublicConversation({ ...(served as Address), ...change });
    const listener = { hear: (piece: string) => pieces.push(piece), begin: () => undefined, report: () => undefined };
    await conversation.sendQuestion({ text: "Hello", files: [] }, listener, AbortSignal.timeout(20_000));
    return pieces.join("");
  };
  const fail = (change: Partial<Address>) =>
    say(change).catch((error: ChatError) => [error.describe(selectWidgetWords("en")), error.mayRetry]);
  expect(await say({})).toBe("One two three");
  expect(await fail({ apiKey: "emb_nobody" })).toEqual(["The chat is not available here.", false]);
  expect(await fail({ baseUrl: "http://127.0.0.1:9" })).toEqual(["The chat cannot be reached from here.", true]);
});
