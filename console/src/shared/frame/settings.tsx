import Bell from "icon:bell";
import BookOpen from "icon:book-open";
import UserRound from "icon:user-round";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { basePath } from "../../api/base";
import { guideAddressOf, guidesQuery } from "../guides";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
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
export function useSettingEntries(hasPermission: (permission?: string) => boolean, hasPage: (to: string) => boolean) {
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
      onClick: () => void navigate({ to: "/inbox/preferences" }),
    },
    {
      id: "docs",
      label: say("docs"),
      keywords: say("docsAlso"),
      leftSection: read,
      onClick: hasPage("/reference") ? () => void navigate({ to: "/reference" }) : openInTab(`${basePath}/docs`),
    },
    {
      id: "guides",
      label: say("guides"),
      keywords: say("guidesAlso"),
      leftSection: read,
      onClick: openInTab(`${basePath}/docs/guides`),
    },
    ...(hasPermission("usage:read")
      ? [
          {
            id: "budgets",
            label: say("readBudgets"),
            keywords: say("readBudgetsAlso"),
            leftSection: read,
            onClick: openInTab(guideAddressOf("usage", "budgets")),
          },
        ]
      : []),
  ];
}

/** The guides of this release by their titles, once something is typed: they are many. */
export function useGuideEntries(text: string) {
  const isAsked = text.trim().length > 0 && !text.startsWith(">");
  const { data: guides = [] } = useQuery({ ...guidesQuery, enabled: isAsked });
  if (!isAsked) return [];
  return guides.map(({ page, title }) => ({
    id: `guide:${page}`,
    label: title,
    description: say("guideOf"),
    keywords: `${say("guidesAlso")} ${page}`,
    leftSection: <BookOpen size={16} />,
    onClick: openInTab(guideAddressOf(page)),
  }));
}
