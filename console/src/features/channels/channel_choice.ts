import type { ChannelFilters } from "./filters";
import type { DeliveryChannelListed } from "./queries";

export const hasChannelFilters = ({ search, type, show }: ChannelFilters) => Boolean(search || type || show);

/** Whether somebody should look at it: it is in use, and what it sent last did not arrive. */
export const needsChannelLook = (channel: DeliveryChannelListed) => channel.active && channel.last_error !== null;

/** The list comes as a whole, so it is filtered here. */
export function filterChannels(channels: DeliveryChannelListed[], { search, type, show }: ChannelFilters) {
  const text = search?.toLowerCase() ?? "";
  return channels.filter(
    (channel) =>
      (!text || channel.name.toLowerCase().includes(text)) &&
      (!type || channel.type === type) &&
      (show !== "look" || needsChannelLook(channel)) &&
      (show !== "off" || !channel.active),
  );
}

/** The channel of each type that is used first: the list is in the order in which they are tried. */
export function findDefaultIds(channels: DeliveryChannelListed[]): Set<string> {
  const firsts = new Map<string, string>();
  for (const { id, type, active } of channels)
    if (active && type !== "in_app" && !firsts.has(type)) firsts.set(type, id);
  return new Set(firsts.values());
}
