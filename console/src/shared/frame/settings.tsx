import Bell from "icon:bell";
import BookOpen from "icon:book-open";
import UserRound from "icon:user-round";
import { useNavigate } from "@tanstack/react-router";
import { basePath } from "../../api/base";
import { guideAddress } from "../guides";
import { words } from "../i18n/words";
import en from "./words.en.json";

const say = words(en, "shared/frame");
/** The parts of the profile, by the id of their section. */
const PARTS = [
  ["appearance", "setTheme", "setThemeAlso"],
  ["language", "setLanguage", "setLanguageAlso"],
  ["password", "setPassword", "setPasswordAlso"],
  ["second-factor", "setSecondFactor", "setSecondFactorAlso"],
  ["sessions", "setSessions", "setSessionsAlso"],
] as const;
const openInTab = (address: string) => () => void window.open(address, "_blank", "noopener");

/** Settings and what to read, each also found by the other words that people have for it. */
export function useSettings(may: (permission?: string) => boolean) {
  const navigate = useNavigate();
  const read = <BookOpen size={16} />;
  const profile = <UserRound size={16} />;
  return [
    { id: "/profile", label: say("profile"), leftSection: profile, onClick: () => void navigate({ to: "/profile" }) },
    ...PARTS.map(([hash, word, also]) => ({
      id: `/profile#${hash}`,
      label: say(word),
      keywords: say(also),
      leftSection: profile,
      onClick: () => void navigate({ to: "/profile", hash }),
    })),
    {
      id: "preferences",
      label: say("setNotifications"),
      keywords: say("setNotificationsAlso"),
      leftSection: <Bell size={16} />,
      onClick: () => void navigate({ to: "/inbox", search: { preferences: true } }),
    },
    {
      id: "docs",
      label: say("docs"),
      keywords: say("docsAlso"),
      leftSection: read,
      onClick: openInTab(`${basePath}/docs`),
    },
    {
      id: "guides",
      label: say("guides"),
      keywords: say("guidesAlso"),
      leftSection: read,
      onClick: openInTab(`${basePath}/docs/guides`),
    },
    ...(may("admin:users")
      ? [
          {
            id: "invite",
            label: say("invite"),
            keywords: say("inviteAlso"),
            leftSection: profile,
            onClick: () => void navigate({ to: "/", hash: "invite" }),
          },
        ]
      : []),
    ...(may("usage:read")
      ? [
          {
            id: "budgets",
            label: say("readBudgets"),
            keywords: say("readBudgetsAlso"),
            leftSection: read,
            onClick: openInTab(guideAddress("usage", "budgets")),
          },
        ]
      : []),
  ];
}
