// Proof of work: a number whose SHA-256 with the token begins with enough zero bits. SHA-256 is implemented here
// because pages without TLS have no `crypto.subtle`, and awaiting each digest would take far longer.

const { ROUNDS, BEGIN } = (() => {
  const primes = [];
  for (let number = 2; primes.length < 64; number += 1) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  const fraction = (value) => ((value - Math.floor(value)) * 2 ** 32) >>> 0;
  return { ROUNDS: primes.map((prime) => fraction(Math.cbrt(prime))), BEGIN: primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))) };
})();

const schedule = new Int32Array(64);

function mixBlock(state, words, start) {
  for (let at = 0; at < 16; at += 1) schedule[at] = words[start + at];
  for (let at = 16; at < 64; at += 1) {
    const [near, far] = [schedule[at - 2], schedule[at - 15]];
    const small = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3);
    const large = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10);
    schedule[at] = schedule[at - 16] + small + schedule[at - 7] + large;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let at = 0; at < 64; at += 1) {
    const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + high + ((e & f) ^ (~e & g)) + ROUNDS[at] + schedule[at]) | 0;
    const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((value, at) => { state[at] = (state[at] + value) | 0; });
}

/** Return the SHA-256 of an ASCII text as eight words. */
function digestOf(text) {
  const blocks = ((text.length + 8) >> 6) + 1;
  const words = new Int32Array(blocks * 16);
  for (let at = 0; at < text.length; at += 1) words[at >> 2] |= text.charCodeAt(at) << (24 - 8 * (at & 3));
  words[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
  words[blocks * 16 - 1] = text.length * 8;
  const state = Int32Array.from(BEGIN);
  for (let block = 0; block < blocks; block += 1) mixBlock(state, words, block * 16);
  return state;
}

/** The first word is enough: at most 24 bits are required. */
function isProof(token, proof, bits) {
  return digestOf(`${token}:${proof}`)[0] >>> (32 - bits) === 0;
}

/** Search in short slices, so that the page stays responsive. */
async function prove(token, bits) {
  for (let proof = 0; ; ) {
    const until = performance.now() + 25;
    while (performance.now() < until) {
      for (let few = 0; few < 200; few += 1, proof += 1) {
        if (isProof(token, proof, bits)) return String(proof);
      }
    }
    await new Promise((resolve) => { setTimeout(resolve, 0); });
  }
}
