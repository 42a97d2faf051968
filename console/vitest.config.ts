import { mergeConfig } from "vite";
import { defineConfig } from "vitest/config";
import config from "./vite.config";

export default mergeConfig(
  config,
  defineConfig({ test: { environment: "jsdom", include: ["{src,shape}/**/*.test.{ts,tsx}"] } }),
);
