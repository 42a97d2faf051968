import { ApiError } from "../../../api/errors";
import {
  afterFrame,
  createStoredMessage,
  type FakeChatServer,
  type ServerMessage,
} from "../../../shared/chat/fake_chat_server";
import { ThreadSession, type ThreadSessionOptions } from "./thread_session";

const versions = (at: number, count: number, ...leaf_ids: string[]) => ({ at, of: count, leaf_ids });
const message = (id: string, role: string, content: string, more: Partial<ServerMessage> = {}): ServerMessage => ({
  ...createStoredMessage(id, role, content),
  versions: versions(1, 1),
  parent_id: null,
  ...more,
});
export const FIRST_MESSAGES = [
  message("msg_1", "user", "First"),
  message("msg_2", "assistant", "One.", { parent_id: "msg_1" }),
];
export const SECOND_MESSAGES = [
  message("msg_3", "user", "Second", { parent_id: "msg_2" }),
  message("msg_4", "assistant", "Two.", { parent_id: "msg_3" }),
];

/** A page that shows a conversation whose messages the server has. */
export async function openTestThread(
  server: FakeChatServer,
  options: Partial<ThreadSessionOptions> = {},
  id = "con_1",
) {
  server.stored = { conversationId: id };
  const speak = () => Promise.reject(new ApiError(422, "stt_not_configured", "No."));
  const session = new ThreadSession({ ...server.createOptions(), speak, ...options });
  const leave = session.subscribe(() => undefined);
  await afterFrame();
  return { session, leave };
}
export const turnAt = (session: ThreadSession, at: number) => {
  const turn = session.getSnapshot().turns.at(at);
  if (!turn) throw new Error("There is no such turn.");
  return turn;
};
