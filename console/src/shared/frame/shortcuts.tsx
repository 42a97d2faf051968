import { Kbd, Modal } from "@mantine/core";
import { Fragment } from "react";
import { words } from "../i18n/words";
import style from "./frame.module.css";
import en from "./words.en.json";

const say = words(en);
const GROUPS: [string, [string, string][]][] = [
  [
    say("keysEverywhere"),
    [
      [say("find"), "Ctrl K"],
      ["Create", "C"],
      ["Find in this list", "/"],
      ["This sheet", "?"],
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
      ["Next, previous", "J K"],
      ["Open", "↵"],
    ],
  ],
  [
    say("approvals"),
    [
      ["Approve, then Ctrl ↵", "A"],
      ["Reject, then Ctrl ↵", "R"],
    ],
  ],
  [
    say("keysChat"),
    [
      ["Send", "↵"],
      ["New line", "⇧ ↵"],
      ["Stop", "Esc"],
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
