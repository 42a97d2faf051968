const toBytes = (text: string) => new TextEncoder().encode(text);

async function computeHmac(key: Uint8Array<ArrayBuffer>, signed: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, toBytes(signed)));
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export type SignedParts = { secret: string; id: string; timestamp: string; body: string };

/** Both signatures of a delivery: our own of the body, and that of Standard Webhooks, which covers the id too. */
export async function signDelivery({ secret, id, timestamp, body }: SignedParts) {
  const own = await computeHmac(toBytes(secret), `${timestamp}.${body}`);
  const key = decodeBase64(secret.replace(/^whsec_/, ""));
  const standard = key?.length ? await computeHmac(key, `${id}.${timestamp}.${body}`) : undefined;
  return {
    own: `sha256=${[...own].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
    standard: standard ? `v1,${btoa(String.fromCharCode(...standard))}` : "",
  };
}

/** Whether what the receiver got is one of the signatures; a header may hold several, during a rotation. */
export async function isSignatureGenuine(parts: SignedParts, received: string): Promise<boolean> {
  const { own, standard } = await signDelivery(parts);
  return received
    .trim()
    .split(/\s+/)
    .some((one) => one !== "" && (one === own || one === standard));
}
