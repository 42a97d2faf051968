import "./design/fonts.css";
import "./design/mantine.css";
import "./design/tokens.css";
import "./design/base.css";
import "./design/controls.css";
import "./design/marks.css";
import "./design/surfaces.css";
import "./design/states.css";
import "./design/overlays.css";
import { MantineProvider } from "@mantine/core";
import { createRoot } from "react-dom/client";
import { dropRepeatedClicks } from "./api/repeats";
import { resumeSession } from "./api/session";
import { App } from "./app";
import { resolveThemeVariables, theme } from "./design/theme";
import { hideTooltipsOnClick } from "./shared/hide_tooltips";
import { language } from "./shared/i18n/language";

declare global {
  var __webpack_nonce__: string | undefined;
  interface Window {
    trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): unknown };
  }
}

const nonce = document.querySelector<HTMLElement>("[nonce]")?.nonce ?? "";
globalThis.__webpack_nonce__ = nonce;
// Libraries write style sheets through `innerHTML`. Text without a tag is harmless; everything else stays refused.
window.trustedTypes?.createPolicy("default", {
  createHTML(text) {
    if (text.includes("<")) throw new TypeError("The console builds no HTML from text.");
    return text;
  },
});

document.documentElement.lang = language;
dropRepeatedClicks();
hideTooltipsOnClick();
void resumeSession().catch(() => undefined);
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveThemeVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <App />
    </MantineProvider>,
  );
