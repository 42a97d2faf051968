// Build the console, then each script that web pages load: `npm run build`.
import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const WEB = fileURLToPath(new URL("../src/retinue/console/web", import.meta.url));
/** By the name under which the server publishes them below `/embed`. */
const PUBLIC_SCRIPTS = {
  widget: "packages/widget/widget.ts",
  preview: "packages/widget/preview.ts",
  form: "packages/form/form.ts",
  hosted: "packages/hosted/hosted.ts",
};
const PIXELS_PER_REM = 16;

/** Convert the sizes of our style sheets to pixels: in pages of other sites, the size of a rem is up to the site. */
const remToPixels = {
  name: "rem-to-pixels",
  enforce: "pre",
  transform: (code, id) =>
    /\.css(\?|$)/.test(id)
      ? code.replace(/(\d+(?:\.\d+)?)rem\b/g, (_, size) => `${Number((size * PIXELS_PER_REM).toFixed(4))}px`)
      : undefined,
};

await build({ logLevel: "warn" });
for (const [name, entry] of Object.entries(PUBLIC_SCRIPTS)) {
  await build({
    configFile: false,
    logLevel: "warn",
    plugins: [remToPixels],
    build: {
      target: "es2022",
      // Our styles are written for browsers of today; older ones get them as they are, not rewritten and longer.
      cssTarget: ["chrome125", "firefox128", "safari17.5"],
      outDir: `${WEB}/public`,
      emptyOutDir: false,
      // A classic script with a scope of its own: a page may load it with any attributes and at any place.
      lib: { entry, name: "retinue", formats: ["iife"], fileName: () => `${name}.js` },
    },
  });
}

// Hosted pages load the display font from an address of their own.
copyFileSync(
  fileURLToPath(
    new URL("node_modules/@fontsource/instrument-serif/files/instrument-serif-latin-400-normal.woff2", import.meta.url),
  ),
  `${WEB}/public/display.woff2`,
);
