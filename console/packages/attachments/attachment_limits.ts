const IMAGES = [".png", ".jpg", ".jpeg", ".webp", ".gif"];
const DOCUMENTS = [".pdf", ".docx", ".txt", ".md", ".markdown", ".csv", ".html", ".htm", ".json", ".xml"];
const SOUNDS = [".wav", ".mp3", ".webm", ".ogg", ".m4a", ".flac"];

export const ATTACHMENT_ENDINGS = [...IMAGES, ...DOCUMENTS, ...SOUNDS];
export const MAX_ATTACHMENTS = 10;

const hasEnding = (name: string, endings: string[]) => endings.some((ending) => name.toLowerCase().endsWith(ending));

/** Whether a file of this name can be sent with a message. */
export const isAttachable = (name: string) => hasEnding(name, ATTACHMENT_ENDINGS);

export const attachmentKindOf = (name: string): "image" | "audio" | "document" =>
  hasEnding(name, IMAGES) ? "image" : hasEnding(name, SOUNDS) ? "audio" : "document";

/** What a refusal says about the file at this place of a message: the service names it `attachments.0`. */
export const findAttachmentDetail = (details: Record<string, unknown> | null | undefined, place: number): unknown =>
  details?.[`attachments.${place}`];
