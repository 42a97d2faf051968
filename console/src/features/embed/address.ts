export type Reach = "public" | "loopback" | "insecure";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$|\.localhost$/i;

/** Who can load something from this address: everybody, this machine alone, or no page with https. */
export function classifyReach(address: string): Reach {
  const { hostname, protocol } = new URL(address);
  if (LOOPBACK.test(hostname)) return "loopback";
  return protocol === "https:" ? "public" : "insecure";
}

/** The address of the service, by the address of its script. */
export const serviceAddressOf = (widgetUrl: string): string => widgetUrl.replace(/\/embed\/widget\.js$/, "");
