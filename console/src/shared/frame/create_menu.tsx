import Plus from "icon:plus";
import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../i18n/words";
import style from "./create_menu.module.css";
import { useCreatables } from "./use_creatables";
import en from "./words.en.json";

const say = createTranslator(en, "shared/frame");

/** Open the menu that is shown now: a phone has it in its top bar, other widths beside the search. */
export function openCreateMenu() {
  const buttons = [...document.querySelectorAll<HTMLElement>("[data-create]")];
  buttons.find((button) => button.getClientRects().length > 0)?.click();
}

/** Creates an object of any kind that this person may create. */
export function CreateMenu({ size }: { size: number }) {
  const [isOpen, setOpen] = useState(false);
  const creatables = useCreatables();
  if (!creatables.length) return null;
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-start" width={220} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <Tooltip label={`${say("create")}  C`} position="right" openDelay={500} disabled={isOpen}>
          <ActionIcon variant="default" size={size} className={style.create} aria-label={say("create")} data-create="">
            <Plus size={16} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {creatables.map(({ label, run }) => (
          <Menu.Item key={label} onClick={run}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
