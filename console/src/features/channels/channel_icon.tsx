import Bell from "icon:bell";
import Hash from "icon:hash";
import Mail from "icon:mail";
import MessageCircle from "icon:message-circle";
import Webhook from "icon:webhook";
import type { ComponentType } from "react";
import type { ChannelTypeName } from "./filters";

const ICONS: Record<ChannelTypeName, ComponentType<{ size?: number }>> = {
  email: Mail,
  team_chat: Hash,
  webhook: Webhook,
  sms: MessageCircle,
  in_app: Bell,
};

export function ChannelTypeIcon({ type, small }: { type: ChannelTypeName; small?: boolean }) {
  const Icon = ICONS[type];
  return (
    <span className={`kind k-turn ${small ? "s" : ""}`}>
      <Icon size={small ? 13 : 15} />
    </span>
  );
}
