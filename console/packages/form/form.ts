import { addElementFromScript, defineElement, findOwnScript } from "@retinue/elements";
import { RetinueForm } from "./form_element";

const script = findOwnScript();
RetinueForm.ownBase = script ? script.src.replace(/\/embed\/form\.js.*$/, "") : "";
defineElement("retinue-form", RetinueForm);

// Pages with their own <retinue-form> elements name no form at the script's tag.
addElementFromScript(script, "form", (attributes, ownTag) => {
  if (!ownTag.dataset.form) return;
  const form = document.createElement("retinue-form");
  form.setAttribute("base-url", RetinueForm.ownBase);
  for (const [name, value] of attributes) form.setAttribute(name, value);
  if (document.body.contains(ownTag)) ownTag.after(form);
  else document.body.append(form);
  if (form.getAttribute("kind") === "frame" && window.parent !== window) reportHeight(form);
});

/** Report the height to the surrounding page, which cannot measure a frame's content. */
function reportHeight(form: HTMLElement) {
  const reportCurrentHeight = () => {
    const height = Math.ceil(form.getBoundingClientRect().height);
    window.parent.postMessage({ type: "retinue-form:height", form: form.getAttribute("form"), height }, "*");
  };
  new ResizeObserver(reportCurrentHeight).observe(form);
}
