import Bell from "icon:bell";
import ShieldCheck from "icon:shield-check";
import TriangleAlert from "icon:triangle-alert";
import { useQuery } from "@tanstack/react-query";
import { homeQuery, pendingQuery, unreadQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

/** What waits for this person, each with its page. */
export function usePaletteNeeds(isApprover: boolean, goTo: (to: string) => () => void) {
  const { data: unread } = useQuery(unreadQuery);
  const { data: home } = useQuery(homeQuery);
  const { data: pending } = useQuery({ ...pendingQuery, enabled: isApprover });
  const failing = home?.needs.filter((need) => need.kind !== "approval").length ?? 0;
  const needs = [
    { id: "failing", count: failing, word: "needsLook", to: "/", icon: <TriangleAlert size={16} /> },
    { id: "waiting", count: pending?.count ?? 0, word: "waiting", to: "/approvals", icon: <ShieldCheck size={16} /> },
    { id: "unread", count: unread?.count ?? 0, word: "unreadSome", to: "/inbox", icon: <Bell size={16} /> },
  ] as const;
  return needs
    .filter((one) => one.count > 0)
    .map(({ id, count, word, to, icon }) => ({
      id,
      label: say(word, { count }),
      leftSection: icon,
      onClick: goTo(to),
    }));
}
