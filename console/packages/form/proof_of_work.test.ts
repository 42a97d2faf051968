import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { digestText, findProofOfWork, isValidProof } from "./proof_of_work";

const toHex = (words: Int32Array) => [...words].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");

it("digests texts of every length like SHA-256", () => {
  for (let length = 0; length <= 200; length += 1) {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(33 + ((at * 7 + length) % 90))).join("");
    expect(toHex(digestText(text)), text).toBe(createHash("sha256").update(text).digest("hex"));
  }
});

it("finds a number whose digest begins with enough zero bits", async () => {
  const proof = await findProofOfWork("1.2.token", 10);
  const digest = createHash("sha256").update(`1.2.token:${proof}`).digest();
  expect(digest.readUInt16BE() >>> 6).toBe(0);
  expect(isValidProof("1.2.token", Number(proof), 10)).toBe(true);
  expect(Array.from({ length: Number(proof) }, (_, at) => isValidProof("1.2.token", at, 10))).not.toContain(true);
});
