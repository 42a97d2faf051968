import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import type { Shape } from "./src/design/icon";

const CAMEL: Record<string, string> = {
  "stroke-width": "strokeWidth",
  "stroke-linecap": "strokeLinecap",
  "stroke-linejoin": "strokeLinejoin",
  "fill-rule": "fillRule",
  "clip-rule": "clipRule",
};

/** Parse the body of an icon into elements: an HTML string would break Trusted Types. */
function shapes(body: string): Shape[] {
  const root: Shape[] = [];
  const open = [root];
  for (const [, closing, tag = "", attributes = "", selfClosing] of body.matchAll(
    /<(\/?)(\w+)((?:\s+[\w-]+="[^"]*")*)\s*(\/?)>/g,
  )) {
    if (closing) {
      open.pop();
      continue;
    }
    const parsed: Record<string, string> = {};
    for (const [, name = "", value = ""] of attributes.matchAll(/([\w-]+)="([^"]*)"/g))
      parsed[CAMEL[name] ?? name] = name === "stroke-width" ? "1.75" : value;
    const shape: Shape = [tag, parsed, []];
    open.at(-1)?.push(shape);
    if (!selfClosing) open.push(shape[2]);
  }
  return root;
}

/** `import Bot from "icon:bot"` gives a component of 0.3 kB instead of a package of 50 MB. */
function icons(): Plugin {
  const set = JSON.parse(readFileSync("node_modules/@iconify-json/lucide/icons.json", "utf8"));
  return {
    name: "icons",
    resolveId: (id) => (id.startsWith("icon:") ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith("\0icon:")) return;
      const name = id.slice(6);
      const icon = set.icons[name] ?? set.icons[set.aliases?.[name]?.parent];
      if (!icon) throw new Error(`There is no icon "${name}".`);
      return `import { createIcon } from "/src/design/icon.ts"; export default createIcon(${JSON.stringify(shapes(icon.body))});`;
    },
  };
}

/** Below this saving a second compressed form costs the package more than it spares the network. */
const MIN_BROTLI_SAVING_BYTES = 2000;

/**
 * Keep each text file compressed only: the server unpacks it for the few clients that take no gzip.
 * Large ones are kept by brotli, too.
 */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    // On the written files: while the bundle is generated, other plugins still change it.
    writeBundle({ dir = "." }, bundle) {
      for (const fileName of Object.keys(bundle)) {
        if (!/\.(js|css|svg)$/.test(fileName)) continue;
        const content = readFileSync(`${dir}/${fileName}`);
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        const zipped = gzipSync(content, { level: 9 });
        const smaller = brotliCompressSync(content, { params });
        writeFileSync(`${dir}/${fileName}.gz`, zipped);
        if (zipped.length - smaller.length >= MIN_BROTLI_SAVING_BYTES) writeFileSync(`${dir}/${fileName}.br`, smaller);
        rmSync(`${dir}/${fileName}`);
      }
    },
  };
}

const FIRST_SCREENS = ["/src/main.tsx", "/src/features/home/home.tsx"];
/** Home draws none, but nearly every other screen does: in the first load they are fetched once. */
const FIRST_COMPONENTS = ["textarea"];
/** What Home loads: the modules that the start and Home import, for `isFirstLoad`. */
const firstLoad = new Set<string>();
/** Rolldown's own helpers stay apart: words that a chunk waits for at its top use them too. */
const isFirstLoad = (id: string) => firstLoad.has(id) && !id.startsWith("\0rolldown");

/** Mantine's index names every component; only those that a module imports from it are loaded. */
const MANTINE_INDEX = /@mantine\/(core|hooks)\/esm\/index\.mjs$/;
const plainName = (path: string) => basename(path, ".mjs").replaceAll("-", "").toLowerCase();
const mantineNames = (code: string) =>
  [...code.matchAll(/import\s*\{([^}]*)\}\s*from\s*["']@mantine\/(?:core|hooks)["']/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => (name.split(" as ")[0] ?? "").trim().toLowerCase()),
  );

/** Collect the modules of the first load before chunks are made. */
function firstLoaded(): Plugin {
  return {
    name: "first-loaded",
    apply: "build",
    buildEnd() {
      const ids = [...this.getModuleIds()];
      const mantine = new Map<string, string[]>();
      for (const id of ids.filter((one) => one.includes("/@mantine/")))
        mantine.set(plainName(id), [...(mantine.get(plainName(id)) ?? []), id]);
      const todo = ids.filter((id) => FIRST_SCREENS.some((screen) => id.endsWith(screen)));
      todo.push(...FIRST_COMPONENTS.flatMap((name) => mantine.get(name) ?? []));
      for (let id = todo.pop(); id; id = todo.pop()) {
        if (firstLoad.has(id)) continue;
        firstLoad.add(id);
        const { importedIds = [], code } = this.getModuleInfo(id) ?? {};
        todo.push(...importedIds.filter((imported) => !MANTINE_INDEX.test(imported)));
        for (const name of mantineNames(code ?? "")) todo.push(...(mantine.get(name) ?? []));
      }
    },
  };
}

export default defineConfig({
  base: "./",
  html: { cspNonce: "__NONCE__" },
  plugins: [react(), icons(), firstLoaded(), compressed()],
  build: {
    target: "es2022",
    outDir: "../src/retinue/console/web",
    emptyOutDir: true,
    manifest: "manifest.json",
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            // Home is one file instead of fifty crumbs, each of which would be a request.
            { name: "first_load", test: isFirstLoad, priority: 2 },
            // Nearly every screen draws marks: one file of them costs less than a crumb for each.
            { name: "marks", test: /[\\/]shared[\\/]marks[\\/]/ },
          ],
        },
      },
    },
    assetsInlineLimit: 0,
  },
  server: { proxy: { "^/(api|v1|auth|me|users)(/|$)": "http://127.0.0.1:8080" } },
});
