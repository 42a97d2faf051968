import Ellipsis from "icon:ellipsis";
import { ActionIcon, Menu } from "@mantine/core";
import type { ReactNode } from "react";

/** The actions on one thing, behind three dots; `children` are menu items. */
export const ActionsMenu = ({ label, children }: { label: string; children: ReactNode }) => (
  <Menu>
    <Menu.Target>
      <ActionIcon aria-label={label}>
        <Ellipsis size={16} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
);
