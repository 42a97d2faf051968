import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { isSignatureGenuine, signDelivery } from "./signature";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const parts = { secret: SECRET, id: "evt_1", timestamp: "1794993122", body: '{"total":1890.50,"name":"Åsa"}' };

it("signs as the server does, in both ways", async () => {
  const { own, standard } = await signDelivery(parts);
  const signed = `${parts.timestamp}.${parts.body}`;
  expect(own).toBe(`sha256=${createHmac("sha256", SECRET).update(signed).digest("hex")}`);
  const key = Buffer.from(SECRET.slice(6), "base64");
  expect(standard).toBe(`v1,${createHmac("sha256", key).update(`evt_1.${signed}`).digest("base64")}`);
});

it("knows a genuine signature among several, and no other", async () => {
  const { own, standard } = await signDelivery(parts);
  for (const received of [own, standard, `v1,AAAA ${standard}`, ` ${own}\n`])
    expect(await isSignatureGenuine(parts, received)).toBe(true);
  for (const received of ["", "sha256=", own.slice(0, -1), standard.slice(3)])
    expect(await isSignatureGenuine(parts, received)).toBe(false);
  expect(await isSignatureGenuine({ ...parts, body: `${parts.body} ` }, own)).toBe(false);
  expect((await signDelivery({ ...parts, secret: "not base64!" })).standard).toBe("");
});
