import type { components } from "@retinue/client/schema";
import type { Condition } from "./conditions";

type Schemas = components["schemas"];

export type FieldType =
  | "text"
  | "textarea"
  | "email"
  | "phone"
  | "url"
  | "number"
  | "select"
  | "multi_select"
  | "checkbox_group"
  | "radio"
  | "rating"
  | "checkbox"
  | "date"
  | "datetime"
  | "file"
  | "hidden"
  | "section"
  | "paragraph"
  | "signature"
  | "slider";

export type FieldRules = {
  min?: number;
  max?: number;
  step?: number;
  min_date?: string;
  max_date?: string;
  allowed_types?: string | string[];
  options?: unknown[];
};

/** A field as the form's owner defined it; what the service adds to it is of no use here. */
export type FormField = {
  id: string;
  type: FieldType;
  label?: string;
  content?: string;
  help_text?: string;
  placeholder?: string;
  required?: boolean;
  default_value?: unknown;
  options?: unknown[];
  data_source?: unknown;
  validation?: FieldRules;
  conditional?: Condition | null;
};

export type FormBranding = { logo_url?: string; primary_color?: string; background_color?: string };

export type FormSettings = {
  submit_button_text?: string;
  close_at?: string | null;
  /** The name of the field that people leave empty. */
  honeypot?: string;
  /** The zero bits that a proof of work begins with. */
  proof_of_work?: number;
  conversational?: { enabled?: boolean };
};

export type PublishedForm = Omit<Schemas["PublicForm"], "fields" | "branding" | "settings"> & {
  fields: FormField[];
  branding?: FormBranding;
  settings: FormSettings;
};

export type Answers = Record<string, unknown>;
export type FieldOption = Schemas["Option"];
export type UploadedFile = Pick<Schemas["Uploaded"], "file_id" | "size_bytes">;
export type Submission = Pick<Schemas["Submit"], "data" | "metadata" | "session_id" | "token" | "proof">;
export type SubmissionReceipt = Schemas["PublicAnswer"];
/** What a submission ends with, in the form and in a conversation. */
export type SubmissionEnd = { submission_id?: string; redirect_url?: string };
export type SavedProgress = Schemas["ProgressOut"];
export type ProgressLink = Schemas["ProgressSaved"];

export type ConversationMessage = Pick<Schemas["FormMessageOut"], "role" | "content">;
export type ConversationInput = Schemas["InputOut"];
export type ConversationAnswerBody = Partial<Schemas["ConversationSay"]>;
export type ConversationState = Schemas["FormConversationOut"];
/** What a conversation is shown from: after a start, after a reload, and after an answer. */
export type ConversationTurn = Pick<ConversationState, "status" | "fields_completed" | "fields_total" | "input"> &
  SubmissionEnd & { assistant_message?: ConversationMessage; form_completed?: boolean };
