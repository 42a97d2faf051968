import Blocks from "icon:blocks";
import Braces from "icon:braces";
import Database from "icon:database";
import FileCode from "icon:file-code-2";
import Globe from "icon:globe";
import Webhook from "icon:webhook";
import type { ComponentType } from "react";
import type { ToolTypeName } from "./filters";

const ICONS: Record<ToolTypeName, ComponentType<{ size?: number }>> = {
  rest_api: Globe,
  function: Braces,
  webhook: Webhook,
  database: Database,
  script: FileCode,
  custom: Blocks,
};

export function ToolIcon({ type, isSmall }: { type: ToolTypeName; isSmall?: boolean }) {
  const Icon = ICONS[type];
  return (
    <span className={`kind k-tool ${isSmall ? "s" : ""}`}>
      <Icon size={isSmall ? 13 : 15} />
    </span>
  );
}
