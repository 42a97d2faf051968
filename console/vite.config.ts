import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

type Shape = [tag: string, attributes: Record<string, string>, children: Shape[]];
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
      return `import { createElement as e } from "react";
const draw = ([tag, attributes, children], key) => e(tag, { key, ...attributes }, children.length ? children.map(draw) : undefined);
const shapes = ${JSON.stringify(shapes(icon.body))};
export default ({ size = 16, ...rest }) => e("svg", { viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": true, ...rest }, shapes.map(draw));`;
    },
  };
}

/** Keep each text file as `.br` and `.gz` only: the server unpacks it for the few clients that take neither. */
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
        writeFileSync(`${dir}/${fileName}.br`, brotliCompressSync(content, { params }));
        writeFileSync(`${dir}/${fileName}.gz`, gzipSync(content, { level: 9 }));
        rmSync(`${dir}/${fileName}`);
      }
    },
  };
}

export default defineConfig({
  base: "./",
  html: { cspNonce: "__NONCE__" },
  plugins: [react(), icons(), compressed()],
  build: {
    target: "es2022",
    outDir: "../src/retinue/console/web",
    emptyOutDir: true,
    manifest: "manifest.json",
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      // Nearly every screen draws marks: one file of them costs less than a crumb for each.
      output: { codeSplitting: { groups: [{ name: "marks", test: /[\\/]shared[\\/]marks[\\/]/ }] } },
    },
    assetsInlineLimit: 0,
  },
  server: { proxy: { "^/(api|v1|auth|me|users)(/|$)": "http://127.0.0.1:8080" } },
});
