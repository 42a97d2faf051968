import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import config from "./vite.config";

export default mergeConfig(
  config,
  defineConfig({
    test: {
      environment: "node",
      include: ["{src,packages,shape}/**/*.test.{ts,tsx}"],
      testTimeout: 60_000,
      // By default one core is left to an editor that nobody uses while `make test` runs.
      maxWorkers: "100%",
      // Each file has a document of its own; modules are loaded once per worker, so a test restores what it
      // changes in them. Shuffled files pass, and `make test` is done in half the time.
      pool: "threads",
      isolate: false,
    },
  }),
);
