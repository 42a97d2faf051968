/*
 * Proof of work: a number whose SHA-256 with the token begins with enough zero bits. SHA-256 is implemented here
 * because pages without TLS have no `crypto.subtle`, and awaiting each digest would take far longer.
 */

const SLICE_MS = 25;
const TRIES_PER_LOOK_AT_THE_CLOCK = 200;

function findPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number += 1)
    if (primes.every((prime) => number % prime)) primes.push(number);
  return primes;
}

const fractionBits = (value: number) => ((value - Math.floor(value)) * 2 ** 32) >>> 0;

const PRIMES = findPrimes(64);
const ROUND_CONSTANTS = Int32Array.from(PRIMES, (prime) => fractionBits(Math.cbrt(prime)));
const INITIAL_STATE = Int32Array.from(PRIMES.slice(0, 8), (prime) => fractionBits(Math.sqrt(prime)));

const schedule = new Int32Array(64);

function fillSchedule(words: Int32Array, start: number) {
  schedule.set(words.subarray(start, start + 16));
  for (let at = 16; at < 64; at += 1) {
    const [near, far] = [schedule[at - 2] as number, schedule[at - 15] as number];
    const small = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3);
    const large = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10);
    schedule[at] = (schedule[at - 16] as number) + small + (schedule[at - 7] as number) + large;
  }
}

function mixBlock(state: Int32Array, words: Int32Array, start: number) {
  fillSchedule(words, start);
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let at = 0; at < 64; at += 1) {
    const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const first = (h + high + choice + (ROUND_CONSTANTS[at] as number) + (schedule[at] as number)) | 0;
    const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + value;
}

/** Return the SHA-256 of an ASCII text as eight words. */
export function digestText(text: string): Int32Array {
  const blockCount = ((text.length + 8) >> 6) + 1;
  const words = new Int32Array(blockCount * 16);
  const addMessageByte = (at: number, byte: number) => {
    words[at >> 2] = (words[at >> 2] as number) | (byte << (24 - 8 * (at & 3)));
  };
  for (let at = 0; at < text.length; at += 1) addMessageByte(at, text.charCodeAt(at));
  addMessageByte(text.length, 0x80);
  words[blockCount * 16 - 1] = text.length * 8;
  const state = Int32Array.from(INITIAL_STATE);
  for (let block = 0; block < blockCount; block += 1) mixBlock(state, words, block * 16);
  return state;
}

/** Whether this number proves the work. The first word is enough: at most 24 bits are required. */
export const isValidProof = (token: string, proof: number, bits: number) =>
  (digestText(`${token}:${proof}`)[0] as number) >>> (32 - bits) === 0;

/** Search in short slices, so that the page stays responsive. */
export async function findProofOfWork(token: string, bits: number): Promise<string> {
  for (let proof = 0; ; ) {
    const until = performance.now() + SLICE_MS;
    while (performance.now() < until) {
      for (let tries = 0; tries < TRIES_PER_LOOK_AT_THE_CLOCK; tries += 1, proof += 1)
        if (isValidProof(token, proof, bits)) return String(proof);
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
