import { addElementFromScript, defineElement, findOwnScript } from "@retinue/elements";
import { RetinuePage } from "./hosted_page";

const script = findOwnScript();
RetinuePage.ownBase = script ? script.src.replace(/\/embed\/hosted\.js.*$/, "") : "";
defineElement("retinue-page", RetinuePage);

addElementFromScript(script, "slug", (attributes) => {
  const page = document.createElement("retinue-page");
  for (const [name, value] of attributes) page.setAttribute(name, value);
  document.body.append(page);
});
