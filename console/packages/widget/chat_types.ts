import type { components } from "@retinue/client/schema";

type Schemas = components["schemas"];

export type CitedSource = Pick<Schemas["PublicSource"], "index" | "document_name" | "chunk_preview" | "page" | "url">;
/** A file that the service has; only what it knows of it survives a reload. */
export type StoredFile = Pick<Schemas["VisitorFileOut"], "file_id" | "filename">;
/** A stored file, with the file itself as long as the page knows it. */
export type SentFile = StoredFile & { file?: File };
export type StoredMessage = Pick<
  Schemas["TranscriptMessage"],
  "id" | "role" | "content" | "is_waiting" | "has_failed" | "sources"
> & { attachments: StoredFile[] };

/** How the owner designed the widget, as far as it is known. */
export type Design = {
  agent?: { name: string };
  settings: Partial<Schemas["WidgetSettings"]>;
  allow_attachments?: boolean;
};
export type Visitor = { id?: string; name?: string; email?: string; hash?: string };

/** A message of the visitor on its way to an answer. */
export type Question = {
  text: string;
  files: SentFile[];
  /** What the visitor typed; the text of a message with files alone is ours. */
  typed?: string;
  bubble?: HTMLElement | null;
  /** It went back into the field, and is not in the conversation. */
  isPutBack?: boolean;
};

/** The end of a reply's stream. `broken` is the reply as the service has stored it after the connection broke. */
export type ReplyEnd = { message_id?: string; finish_reason?: string; sources?: CitedSource[]; broken?: StoredMessage };

export type ReplyListener = {
  hear: (piece: string) => void;
  /** The service has the message. */
  begin: (messageId?: string) => void;
  /** Whether the service answers, after a connection broke. */
  report: (isReached: boolean) => void;
};

/** What the widget needs of a conversation; the console's preview has its own. */
export interface ChatService {
  hasBegunBefore: boolean;
  sessionId: string;
  storageName?: string;
  startAnew(): unknown;
  sendQuestion(question: Question, listener: ReplyListener, signal: AbortSignal): Promise<ReplyEnd>;
  loadMessages(signal?: AbortSignal, waitFor?: string): Promise<StoredMessage[]>;
  waitForDecision(messageId: string, signal: AbortSignal): Promise<StoredMessage>;
  isReachable?(signal: AbortSignal): Promise<boolean>;
  loadDesign?(): Promise<Design>;
  readCachedDesign?(name: string): { at: number; design: Design } | null;
  uploadFile?(request: XMLHttpRequest, file: File, report: (share: number) => void): Promise<StoredFile>;
}
