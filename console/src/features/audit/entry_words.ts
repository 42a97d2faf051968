import { createTranslator } from "../../shared/i18n/words";
import { describeValue } from "../../shared/versions/changes";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");
const isWord = (key: string): key is keyof typeof en => key in en;
/** What an entry says of the event; its fields depend on the action. */
type Metadata = Readonly<Record<string, unknown>>;
const isDetail = (value: unknown) =>
  value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && !value.length);

/** A field of an entry, such as `previous_role`; one without words stands for itself. */
function fieldNameOf(field: string): string {
  const word = `field_${field}`;
  return isWord(word) ? say(word) : field.replaceAll("_", " ");
}

type NameOf = (id: string) => string | undefined;

/** Ids of people and programs, which have names. */
const isNamedId = (value: unknown): value is string => typeof value === "string" && /^(usr|sac)_/.test(value);
const isObject = (value: unknown): value is Metadata => typeof value === "object" && value !== null;

/** The people and programs in an entry besides the actor, for example the requester of an approval. */
export const listMentionedIds = ({ metadata }: { metadata: Metadata }): string[] =>
  Object.values(metadata)
    .flatMap((value) => (isObject(value) ? Object.values(value) : [value]))
    .filter(isNamedId);

/** A value of an entry in words: a person by name, and of an object that only says what it is, its kind. */
function describeFact(value: unknown, nameOf: NameOf): string {
  if (isNamedId(value)) return nameOf(value) ?? value;
  if (!isObject(value) || Array.isArray(value) || typeof value.type !== "string") return describeValue(value);
  const id = isNamedId(value.id) ? nameOf(value.id) : undefined;
  return id ?? describeActorKind(value.type);
}

export type EntryChange = { field: string; before: string; after: string };
export type EntryDetails = { changes: EntryChange[]; facts: [name: string, value: string][] };

/** What an entry tells besides who, what and when: what changed from what to what, and the rest as facts. */
export function describeMetadata(
  { metadata, subject_id }: { metadata: Metadata; subject_id: string },
  nameOf: NameOf = () => undefined,
): EntryDetails {
  const fields = Object.entries(metadata).filter(([, value]) => isDetail(value) && value !== subject_id);
  const before = new Map(
    fields.flatMap(([name, value]) => (name.startsWith("previous_") ? [[name.slice("previous_".length), value]] : [])),
  );
  const isPaired = (name: string) => before.has(name) && name in metadata;
  const changes = fields
    .filter(([name]) => isPaired(name))
    .map(([name, value]) => ({
      field: fieldNameOf(name),
      before: describeFact(before.get(name), nameOf),
      after: describeFact(value, nameOf),
    }));
  const facts = fields
    .filter(([name]) => !isPaired(name) && !isPaired(name.replace(/^previous_/, "")))
    .map(([name, value]): [string, string] => [fieldNameOf(name), describeFact(value, nameOf)]);
  return { changes, facts };
}

const NAMES = ["name", "credential_name", "title", "filename", "email", "url", "endpoint", "model", "role", "kind"];

/** What the object of an entry was called then, if the entry says it. */
export function findSubjectName({ metadata }: { metadata: Metadata }): string | undefined {
  const found = NAMES.map((field) => metadata[field]).find((value) => typeof value === "string" && value);
  return found as string | undefined;
}

/** Who did it, where that is no person or program with a name. */
export function describeActorKind(type: string): string {
  const word = `actor_${type}`;
  return isWord(word) ? say(word) : type;
}

export const readEntryActor = ({ actor }: { actor: Metadata }) => ({
  type: String(actor.type ?? ""),
  id: String(actor.id ?? ""),
});
