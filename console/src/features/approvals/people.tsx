import { useQuery } from "@tanstack/react-query";
import { meQuery, useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import type { Tone } from "../../shared/parts";
import { type Approval, personQuery } from "./queries";
import en from "./words.en.json";

const say = words(en);
const WORDS = en as Record<string, string>;

export const STATUS_TONES: Record<string, Tone> = { approved: "ok", rejected: "bad", pending: "warn" };
export const statusWord = (status: Approval["status"]) => WORDS[status] ?? status;

/** The name of whoever asked or decided: administrators see names, all others what kind of caller it was. */
export function useName({ type, id }: { type: string; id: string }): string {
  const may = useMay();
  const { data: me } = useQuery(meQuery);
  const isMe = me?.id === id;
  const person = useQuery({
    ...personQuery(id),
    enabled: Boolean(me) && type === "user" && !isMe && may("admin:users"),
  });
  if (isMe) return say("you");
  if (type === "embed_key") return say("visitor");
  if (!person.data) return say("somebody");
  return `${person.data.first_name} ${person.data.last_name}`.trim() || person.data.email;
}
