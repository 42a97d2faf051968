import { asApiError } from "../../api/errors";

export type Invited = { email: string; invite_url?: string };
/** An address that was not invited, and why. */
export type RefusedInvitation = { email: string; problem: string };

/** The addresses in a text, each once: separated by commas, semicolons or spaces, or one per line. */
export const splitAddresses = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];

/** Invite one after the other; what is refused does not keep back the rest. */
export async function inviteEach(addresses: string[], inviteOne: (email: string) => Promise<Invited>) {
  const invited: Invited[] = [];
  const refused: RefusedInvitation[] = [];
  for (const email of addresses) {
    try {
      invited.push(await inviteOne(email));
    } catch (error) {
      refused.push({ email, problem: asApiError(error).message });
    }
  }
  return { invited, refused };
}
