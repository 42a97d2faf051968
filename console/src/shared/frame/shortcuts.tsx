import { Kbd, Modal } from "@mantine/core";
import { Fragment } from "react";
import { general } from "../i18n/general";
import { words } from "../i18n/words";
import style from "./shortcuts.module.css";
import en from "./words.en.json";

const say = words(en, "shared/frame");
const GROUPS: [string, [string, string][]][] = [
  [
    say("keysEverywhere"),
    [
      [say("find"), `${general("ctrl")} K`],
      [say("keyCreate"), "C"],
      [say("keyFind"), "/"],
      [say("keySheet"), "?"],
    ],
  ],
  [
    say("keysGo"),
    [
      [say("agents"), "G A"],
      [say("approvals"), "G P"],
      [say("inbox"), "G I"],
      [say("conversations"), "G C"],
    ],
  ],
  [
    say("keysLists"),
    [
      [say("keyMove"), "J K"],
      [say("keyOpen"), "↵"],
    ],
  ],
  [
    say("approvals"),
    [
      [say("keyApprove"), "A"],
      [say("keyReject"), "R"],
    ],
  ],
  [
    say("keysChat"),
    [
      [say("keySend"), "↵"],
      [say("keyLine"), "⇧ ↵"],
      [say("keyStop"), "Esc"],
      [say("keyTrace"), "T"],
      [say("keyAnew"), `${general("ctrl")} ⌫`],
    ],
  ],
];

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say("help")} size={640}>
      <div className={style.keys}>
        {GROUPS.map(([title, keys]) => (
          <section key={title} className="stack g8">
            <h3 className="t-sec">{title}</h3>
            <dl>
              {keys.map(([what, key]) => (
                <Fragment key={what}>
                  <dt>{what}</dt>
                  <dd>
                    {key.split(" ").map((one) => (
                      <Kbd key={one}>{one}</Kbd>
                    ))}
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
