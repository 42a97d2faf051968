// Runs one JavaScript function with packages in Node, inside its own sandbox.
const fs = require("node:fs");
const { createRequire } = require("node:module");
const { runInThisContext } = require("node:vm");

const REQUEST = 3;
const RESULT = 4;
const MAX_OUTPUT_LENGTH = 1024 * 1024;
const MAX_MESSAGE_LENGTH = 2000;
const MODULE = "/tmp/main.mjs";

const { source, input, is_module: isModule } = JSON.parse(fs.readFileSync(REQUEST, "utf8"));

const evaluate = async () => {
  if (isModule) {
    fs.writeFileSync(MODULE, source);
    return import(MODULE);
  }
  globalThis.require = createRequire(MODULE);
  runInThisContext(source, { filename: "main.js" });
  return undefined;
};

const answer = async () => {
  const values = await evaluate();
  const text = globalThis.retinue.begin(source, values, JSON.stringify(input)) ?? (await globalThis.retinue.pending);
  if (text.length > MAX_OUTPUT_LENGTH) {
    return JSON.stringify({ kind: "output_too_large", error: "The output is larger than 1 MiB." });
  }
  return `{"output":${text}}`;
};

const failure = (error) => {
  console.error(error);
  const isMemory = error instanceof RangeError && /allocation|array length|string length/i.test(error.message);
  const kind = isMemory ? "memory_exceeded" : "runtime_error";
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return JSON.stringify({ kind, error: message.slice(0, MAX_MESSAGE_LENGTH) });
};

runInThisContext(fs.readFileSync(`${__dirname}/function.js`, "utf8"));
answer()
  .catch(failure)
  .then((text) => {
    fs.writeFileSync(RESULT, text);
    process.exit(0);
  });
