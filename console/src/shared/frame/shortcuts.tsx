import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { permissionsQuery } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { listPageCommands } from "./commands";
import { ShortcutKeyHint } from "./key_hint";
import { listConsolePlaces } from "./places";
import style from "./shortcuts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");
type KeyGroup = { title: string; keys: { label: string; keys: string }[] };

const GENERAL: KeyGroup[] = [
  {
    title: say("keysEverywhere"),
    keys: [
      { label: say("find"), keys: "mod+k" },
      { label: say("keyCreate"), keys: "c" },
      { label: say("keySheet"), keys: "?" },
    ],
  },
  {
    title: say("keysLists"),
    keys: [
      { label: say("keyFind"), keys: "/" },
      { label: say("keyMove"), keys: "j k" },
      { label: say("keyOpen"), keys: "enter" },
    ],
  },
  {
    title: say("keysChat"),
    keys: [
      { label: say("keySend"), keys: "enter" },
      { label: say("keyLine"), keys: "shift enter" },
      { label: say("keyStop"), keys: "escape" },
      { label: say("keyTrace"), keys: "t" },
      { label: say("keyAnew"), keys: "mod backspace" },
    ],
  },
];
const hasKeys = <T extends { keys?: string }>(one: T): one is T & { keys: string } => Boolean(one.keys);

/** Everything that has a key here: on every page, on this one, and the places that this person may open. */
export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { data: role } = useQuery(permissionsQuery);
  const [commands] = useState(() => listPageCommands());
  const groups: KeyGroup[] = [
    ...GENERAL.slice(0, 1),
    { title: say("onThisPage"), keys: commands.filter(hasKeys) },
    { title: say("keysGo"), keys: listConsolePlaces(role?.permissions ?? []).filter(hasKeys) },
    ...GENERAL.slice(1),
  ];
  return (
    <Modal opened onClose={onClose} title={say("help")} size={640}>
      <div className={style.keys}>
        {groups
          .filter(({ keys }) => keys.length > 0)
          .map(({ title, keys }) => (
            <section key={title} className="stack g8">
              <h3 className="t-sec">{title}</h3>
              <dl>
                {keys.map((one) => (
                  <Fragment key={one.label}>
                    <dt>{one.label}</dt>
                    <dd>
                      <ShortcutKeyHint keys={one.keys} />
                    </dd>
                  </Fragment>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Modal>
  );
}
