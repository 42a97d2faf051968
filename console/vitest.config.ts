import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import config from "./vite.config";

export default mergeConfig(
  config,
  defineConfig({ test: { environment: "node", include: ["{src,packages,shape}/**/*.test.{ts,tsx}"] } }),
);
