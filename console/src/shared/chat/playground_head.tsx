import RotateCcw from "icon:rotate-ccw";
import { ActionIcon, Select, Tooltip } from "@mantine/core";
import { useMay } from "../../api/queries";
import { words } from "../i18n/words";
import { Pill } from "../marks/status";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = words(en, "shared/chat");
/** As whom one asks. */
export type Asker = "self" | "visitor";
type Props = {
  version?: number | "draft";
  asker: Asker;
  onAsker: (asker: Asker) => void;
  canReset: boolean;
  onReset: () => void;
};

/** What answers and to whom, and the way to a new conversation. */
export function PlaygroundHead({ version, asker, onAsker, canReset, onReset }: Props) {
  const may = useMay();
  return (
    <div className={style.head}>
      <h2 className="t-sec">{say("playground")}</h2>
      {version && <Pill tone="warn">{version === "draft" ? say("draft") : `v${version}`}</Pill>}
      {version && may("agents:read") && (
        <Select
          className="push"
          size="xs"
          w={140}
          aria-label={say("as")}
          data={[
            { value: "self", label: say("asSelf") },
            { value: "visitor", label: say("asVisitor") },
          ]}
          value={asker}
          onChange={(value) => onAsker(value === "visitor" ? "visitor" : "self")}
        />
      )}
      <Tooltip label={say("again")}>
        <ActionIcon
          className={version ? undefined : "push"}
          aria-label={say("again")}
          onClick={onReset}
          disabled={!canReset}
        >
          <RotateCcw size={15} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
