"""Attempts to get out of a JavaScript sandbox; each gives something only if it worked."""

_MAIN = """
const fs = globalThis.require?.("node:fs"), net = globalThis.require?.("node:net");
const connected = (...where) =>
  new Promise((resolve, reject) => {{ net.connect(...where, () => resolve(true)).on("error", reject); }});
async function main(given) {{
  const attempt = async () => {{ {body} }};
  try {{
    const got = await attempt();
    return got ? {{ escaped: String(got) }} : {{ blocked: "in vain" }};
  }} catch (error) {{
    return {{ blocked: String(error) }};
  }}
}}
"""

QUICKJS_ATTACKS = {
    "require": "return require('fs');",
    "import std": "return await import('std');",
    "import os": "return await import('os');",
    "import node:fs": "return await import('node:fs');",
    "import a file": "return await import(given.data_file);",
    "import a relative file": "return await import('../../../../etc/passwd');",
    "import a host": "return await import(`http://127.0.0.1:${given.tcp}/x.js`);",
    "fetch": "return await fetch(`http://127.0.0.1:${given.tcp}/`);",
    "globals of the host": """
        const names = ["process", "require", "fetch", "XMLHttpRequest", "WebSocket", "Deno", "Bun", "std"];
        names.push("os", "scriptArgs", "WebAssembly", "Worker", "importScripts", "load", "print");
        return names.filter((name) => name in globalThis).join();
    """,
    "the function constructor": "return Function('return typeof process')() !== 'undefined';",
    "the function that logs": "return console.log.constructor('return this.log')();",
    "functions of the host left on the global object": """
        return Object.getOwnPropertyNames(globalThis).filter((name) => /^_|log|host/i.test(name)).join();
    """,
    "the prototype of what comes in": "return ({}).polluted || given.__proto__ !== Object.prototype;",
}

NODE_ATTACKS = {
    "environment": "return JSON.stringify(process.env).includes(given.canary) || process.env.RETINUE_CANARY;",
    "environment of process 1": "return fs.readFileSync('/proc/1/environ', 'utf8');",
    "environment of the server": "return fs.readFileSync(`/proc/${given.server}/environ`, 'utf8');",
    "shadow": "return fs.readFileSync('/etc/shadow', 'utf8');",
    "data dir": "return fs.readFileSync(given.data_file, 'utf8');",
    "application": "return fs.readFileSync(given.app_file, 'utf8');",
    "another program": "return require('child_process').execFileSync('/bin/cat', [given.data_file]).length;",
    "import as json": "return await import(given.data_file, { with: { type: 'json' } });",
    "import as text": "return await import(given.data_file, { with: { type: 'text' } });",
    "native code": "return process.dlopen({ exports: {} }, given.data_file);",
    "a link out": "fs.symlinkSync(given.data_file, '/tmp/link'); return fs.readFileSync('/tmp/link');",
    "write outside": "fs.writeFileSync('/usr/attack', 'x'); return true;",
    "loopback": "return await connected(given.tcp, '127.0.0.1');",
    "fetch loopback": "return await fetch(`http://127.0.0.1:${given.tcp}/`);",
    "metadata service": "return await fetch('http://169.254.169.254/');",
    "unix socket": "return await connected(given.unix);",
    "abstract socket": "return await connected('\\0' + given.abstract);",
    "signal the server": "process.kill(given.server, 0); return true;",
    "become root": "process.setuid(0); return true;",
    "a device": "return fs.openSync('/dev/mem', 'r');",
}


def source_in(attacks: dict[str, str], name: str) -> str:
    return _MAIN.format(body=attacks[name])
