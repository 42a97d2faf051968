import ChevronLeft from "icon:chevron-left";
import ChevronRight from "icon:chevron-right";
import { ActionIcon } from "@mantine/core";
import type { Turn } from "../../../shared/chat/chat";
import { createTranslator } from "../../../shared/i18n/words";
import style from "./message.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Props = { versions: Turn["questionVersions"]; onOpen?: (leaf: string) => void };

/** ‹ 2 of 3 ›: the same place in the conversation, said differently. */
export function VersionSwitch({ versions, onOpen }: Props) {
  if (!versions || versions.of < 2) return null;
  const { at, of, leaf_ids: leaves } = versions;
  const openAt = (next: number) => () => {
    const leaf = leaves[next - 1];
    if (leaf) onOpen?.(leaf);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <span className={style.versions} role="group" aria-label={say("versions")}>
      <ActionIcon
        size={24}
        aria-label={say("versionBefore")}
        disabled={!(onOpen && leaves[at - 2])}
        onClick={openAt(at - 1)}
      >
        <ChevronLeft size={14} />
      </ActionIcon>
      <span className="num">{say("versionOf", { at, of })}</span>
      <ActionIcon
        size={24}
        aria-label={say("versionAfter")}
        disabled={!(onOpen && leaves[at])}
        onClick={openAt(at + 1)}
      >
        <ChevronRight size={14} />
      </ActionIcon>
    </span>
  );
}
