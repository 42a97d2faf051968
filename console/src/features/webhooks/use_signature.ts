import { useEffect, useState } from "react";
import { isSignatureGenuine, type SignedParts, signDelivery } from "./signature";

export type CheckedSignature = { own: string; standard: string; isGenuine: boolean };

/** The signatures of these parts, as soon as they are computed. They are kept in memory alone, in no cache. */
export function useSignature({ secret, id, timestamp, body }: SignedParts, received: string) {
  const [checked, setChecked] = useState<CheckedSignature>();
  useEffect(() => {
    let isOver = false;
    const parts = { secret, id, timestamp, body };
    const check = async () => {
      const next = { ...(await signDelivery(parts)), isGenuine: await isSignatureGenuine(parts, received) };
      if (!isOver) setChecked(next);
    };
    void check();
    return () => {
      isOver = true;
    };
  }, [secret, id, timestamp, body, received]);
  return checked;
}
