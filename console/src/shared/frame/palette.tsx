import "@mantine/spotlight/styles.css";
import "./palette.css";
import CornerDownRight from "icon:corner-down-right";
import LogOut from "icon:log-out";
import Plus from "icon:plus";
import Search from "icon:search";
import Settings2 from "icon:settings-2";
import { Spotlight, type SpotlightActionGroupData, type SpotlightProps, spotlight } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { basePath } from "../../api/base";
import { permissionsQuery } from "../../api/queries";
import { signOut } from "../../api/session";
import { createTranslator } from "../i18n/words";
import { PLACE_KEYWORDS, signOutKeywords } from "../palette/keywords";
import { listPageCommands } from "./commands";
import { ShortcutKeyHint } from "./key_hint";
import { useFoundObjects } from "./objects";
import { filterPalette, isActionSearch } from "./palette_filter";
import { usePaletteNeeds } from "./palette_needs";
import { listConsolePlaces } from "./places";
import { useGuideEntries, useSettingEntries } from "./settings";
import { useCreatables, usePageCheck } from "./use_creatables";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
const SCROLL = { viewportProps: { tabIndex: 0 } };

const filterEntries: NonNullable<SpotlightProps["filter"]> = (query, groups) =>
  filterPalette(query, groups as SpotlightActionGroupData[], [say("objects")]);

/** What the page under the palette can do, as it stood when the palette opened; its tabs are places. */
function usePageEntries(isActions: boolean, isPlace: (to: string) => boolean) {
  const [commands] = useState(() => listPageCommands());
  return commands
    .filter(({ to }) => !to || !(isActions || isPlace(to)))
    .map(({ label, keys, run }) => ({
      id: `page:${label}`,
      label,
      leftSection: <CornerDownRight size={16} />,
      rightSection: keys && <ShortcutKeyHint keys={keys} />,
      onClick: run,
    }));
}

/** What is done and not gone to: creating an object, and leaving. */
function useActionEntries() {
  const creations = useCreatables().map(({ label, keywords, run }) => ({
    id: `create:${label}`,
    label,
    keywords,
    leftSection: <Plus size={16} />,
    onClick: run,
  }));
  const leave = {
    id: "sign-out",
    label: say("signOut"),
    keywords: signOutKeywords,
    leftSection: <LogOut size={16} />,
    onClick: () => void signOut(),
  };
  return [...creations, leave];
}

/** What needs you, this page, objects by name or id, places, create and settings. `>` limits the list to actions. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const { data: role } = useQuery(permissionsQuery);
  const permissions = role?.permissions ?? [];
  const isActions = isActionSearch(text);
  const hasPage = usePageCheck();
  useEffect(() => spotlight.open(), []);
  const go = (to: string) => () => void navigate({ to });
  const objects = useFoundObjects(isActions ? "" : text, go, hasPage);
  const places = listConsolePlaces(permissions).filter(({ to }) => hasPage(to));
  const isPlace = (to: string) => places.some((place) => `${basePath}/console${place.to}` === to);
  const page = usePageEntries(isActions, isPlace);
  const actions = useActionEntries();
  const settings = useSettingEntries((permission) => !permission || permissions.includes(permission), hasPage);
  const guides = useGuideEntries(text);
  const waiting = usePaletteNeeds(permissions.includes("approvals:read"), go);
  const placeEntries = places.map(({ to, label, icon: Icon = Settings2, keys }) => ({
    id: to,
    label,
    keywords: PLACE_KEYWORDS[to],
    leftSection: <Icon size={16} />,
    rightSection: keys && <ShortcutKeyHint keys={keys} />,
    onClick: go(to),
  }));
  const groups = [
    { group: say("needsYou"), actions: isActions ? [] : waiting },
    { group: say("onThisPage"), actions: page },
    { group: say("objects"), actions: isActions ? [] : objects },
    { group: say("places"), actions: isActions ? [] : placeEntries },
    { group: say("createAndSettings"), actions: isActions ? actions : [...actions, ...settings, ...guides] },
  ].filter((group) => group.actions.length);
  return (
    <Spotlight
      shortcut={null}
      onSpotlightClose={onClose}
      onQueryChange={setText}
      filter={filterEntries}
      nothingFound={say("nothing")}
      scrollable
      maxHeight={470}
      scrollAreaProps={SCROLL}
      radius="lg"
      searchProps={{ placeholder: say("find"), leftSection: <Search size={17} />, "aria-label": say("find") }}
      actions={groups}
    />
  );
}
