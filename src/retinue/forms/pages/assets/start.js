// Available only while the script runs. Pages with their own <retinue-form> elements name no form here.
const ownScript = document.currentScript;
const OWN_BASE = ownScript ? ownScript.src.replace(/\/embed\/form\.js.*$/, "") : "";

if (!customElements.get("retinue-form")) customElements.define("retinue-form", RetinueForm);

/** Insert the form at the script's tag, configured by its attributes. */
function addForm() {
  const form = document.createElement("retinue-form");
  form.setAttribute("base-url", OWN_BASE);
  for (const { name, value } of ownScript.attributes) {
    if (name.startsWith("data-")) form.setAttribute(name.slice(5), value);
  }
  if (document.body.contains(ownScript)) ownScript.after(form);
  else document.body.append(form);
  if (form.getAttribute("kind") === "frame" && window.parent !== window) tellHeight(form);
}

/** Report the height to the surrounding page, which cannot measure a frame's content. */
function tellHeight(form) {
  const tell = () => window.parent.postMessage({ type: "retinue-form:height", form: form.getAttribute("form"), height: Math.ceil(form.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(form);
}

if (ownScript?.dataset.form) {
  if (document.body) addForm();
  else document.addEventListener("DOMContentLoaded", addForm, { once: true });
}
