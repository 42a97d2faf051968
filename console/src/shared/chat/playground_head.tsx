import RotateCcw from "icon:rotate-ccw";
import { ActionIcon, Select, Tooltip } from "@mantine/core";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../i18n/words";
import { StatusPill } from "../marks/status";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");
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
  const may = usePermissionCheck();
  return (
    <div className={style.head}>
      <h2 className="t-sec">{say("playground")}</h2>
      {version && <StatusPill tone="warn">{version === "draft" ? say("draft") : `v${version}`}</StatusPill>}
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
