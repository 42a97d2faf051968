// The reference page: loads openapi.json and shows one operation at a time.
// Content of the document and of responses is inserted only as text, never as HTML.

import { el, example, hint, json, prose, read, required, resolve, row, shapeOf, small } from "./reference-schemas.js";

const ROOT = new URL(".", location.href);
const SHOWN_CHARACTERS = 200_000;
const $ = (id) => document.getElementById(id);

let reference;
const operations = new Map();

const section = (title, ...children) => el("section", {}, el("h2", {}, title), children);
const field = (label, id, input) => el("div", { class: "field" }, el("label", { for: id }, label), input);
const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

// ---- an operation ----

const badge = (method) => el("span", { class: `method ${method}` }, method);
const statusBadge = (status) => el("span", { class: `status s${String(status)[0]}` }, String(status));
const parametersOf = (operation) => (operation.parameters ?? []).map(resolve);
const units = (number) => `${number} ${number === 1 ? "unit" : "units"}`;

function facts(operation) {
  const words = { public: "nothing, it is public", signed_in: "any signed-in user", account: "any signed-in user, approved or not" };
  const { "x-requires": requires, "x-cost": cost, operationId } = operation;
  return el("dl", { class: "facts" },
    fact("Requires", words[requires] ?? el("code", {}, requires)),
    fact("Cost", `${cost} · ${units(reference["x-costs"]?.[cost])}`),
    fact("Operation", el("code", {}, operationId)));
}

function parameterSections(operation) {
  const places = { path: "Path parameters", query: "Query parameters", header: "Headers" };
  return Object.entries(places).map(([place, title]) => {
    const found = parametersOf(operation).filter((parameter) => parameter.in === place);
    return found.length > 0 && section(title, el("ul", { class: "tree" },
      found.map((each) => row(each.name, each.schema, each.required, { sent: true, depth: 0 }, each.description))));
  });
}

function bodySection({ requestBody }) {
  return requestBody && section(["Request body", !requestBody.required && el("small", {}, "optional")],
    prose(requestBody.description),
    Object.entries(requestBody.content).map(([type, { schema }]) => [hint(type), shapeOf(schema, true)]));
}

function answerSection([status, { description, content }]) {
  return section(["Response ", statusBadge(status), el("small", {}, description)],
    !content && hint("No content"),
    Object.entries(content ?? {}).map(([type, { schema }]) => [
      hint(type === "*/*" ? "A file or document; the Content-Type header names its media type." : type),
      schema && shapeOf(schema),
      type === "application/json" &&
        el("details", { class: "example" }, el("summary", {}, "Example"), json(example(schema))),
    ]));
}

function answerSections(operation) {
  const answers = Object.entries(operation.responses).map(([status, response]) => [status, resolve(response)]);
  return [
    answers.filter(([status]) => status < 400).map(answerSection),
    section("Errors", el("ul", { class: "refusals" }, answers.filter(([status]) => status >= 400)
      .map(([status, { description }]) => el("li", {}, statusBadge(status), el("div", {}, prose(description)))))),
  ];
}

// ---- trying it ----

function control(parameter, id) {
  const schema = resolve(parameter.schema);
  const options = schema.enum ?? (schema.type === "boolean" ? [true, false] : null);
  const shared = { id, name: parameter.name, "data-in": parameter.in, required: parameter.required };
  if (options) {
    return el("select", shared, el("option", { value: "" }, parameter.required ? "choose" : ""),
      options.map((value) => el("option", {}, String(value))));
  }
  return el("input", { ...shared, autocomplete: "off", spellcheck: "false", placeholder: parameter.schema.default });
}

function tryBody({ requestBody }) {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (!type) return null;
  if (type === "multipart/form-data") {
    return Object.entries(media.schema.properties).map(([name, part]) => field(name, `part-${name}`,
      el("input", { id: `part-${name}`, name, type: "file", "data-in": "form", multiple: part.type === "array" })));
  }
  const text = JSON.stringify(media.example ?? example(media.schema), null, 2);
  const rows = Math.min(18, text.split("\n").length + 1);
  const area = el("textarea", { id: "body", "data-in": "body", spellcheck: "false", rows });
  area.value = text;
  return field("Body", "body", area);
}

function requestFrom(form, method, path) {
  const headers = new Headers();
  const query = new URLSearchParams();
  let body;
  for (const input of form.querySelectorAll("[data-in]")) {
    const { name, value, dataset } = input;
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (dataset.in === "query" && value !== "") query.set(name, value);
    else if (dataset.in === "header" && value !== "") headers.set(name, value);
    else if (dataset.in === "form") {
      body ??= new FormData();
      for (const file of input.files) body.append(name, file);
    } else if (dataset.in === "body" && value.trim() !== "") {
      headers.set("Content-Type", "application/json");
      body = value;
    }
  }
  const token = $("token").value.trim();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  const search = query.toString();
  const url = new URL(path.slice(1) + (search && `?${search}`), ROOT);
  return [url, { method: method.toUpperCase(), headers, body, credentials: "omit" }];
}

async function showAnswer(response, place) {
  const type = response.headers.get("content-type") ?? "";
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  place.append(el("details", {}, el("summary", {}, "Headers"), el("pre", { tabindex: 0 }, headers)));
  if (type.startsWith("text/event-stream")) {
    const block = place.appendChild(el("pre", { tabindex: 0 }));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) block.append(part.value);
  } else if (/json|^text\//.test(type)) {
    const text = await response.text();
    const shown = text.slice(0, SHOWN_CHARACTERS);
    const value = type.includes("json") && shown === text ? JSON.parse(text) : undefined;
    place.append(value === undefined ? el("pre", { tabindex: 0 }, shown) : json(value));
    const token = value?.access_token;
    const use = () => { $("token").value = token; };
    if (typeof token === "string") place.append(el("button", { type: "button", onclick: use }, "Use as access token"));
  } else {
    const { size } = await response.blob();
    place.append(hint(size ? `${size} bytes of ${type || "unknown type"}` : "No content"));
  }
}

function tryIt(method, path, operation) {
  const status = el("p", { class: "line", role: "status" });
  const answer = el("div");
  const button = el("button", { class: "send" }, "Send");
  let running = null;
  const send = async (event) => {
    event.preventDefault();
    if (running) return running.abort();
    running = new AbortController();
    button.textContent = "Stop";
    const started = performance.now();
    status.replaceChildren("Waiting…");
    answer.replaceChildren();
    try {
      const [url, init] = requestFrom(event.target, method, path);
      const response = await fetch(url, { ...init, signal: running.signal });
      const took = Math.round(performance.now() - started);
      status.replaceChildren(statusBadge(response.status), response.statusText, small(`${took} ms`));
      await showAnswer(response, answer);
    } catch (error) {
      status.append(el("span", { class: "problem" }, error.name === "AbortError" ? "Stopped." : error.message));
    }
    running = null;
    button.textContent = "Send";
  };
  const fields = parametersOf(operation).map((parameter, at) => {
    const id = `try-${at}`;
    return field([parameter.name, parameter.required && required()], id, control(parameter, id));
  });
  return el("aside", { class: "try", "aria-label": "Try it" }, el("h2", {}, "Try it"),
    operation.security?.length > 0 && hint("Sends the access token from the top of the page."),
    el("form", { onsubmit: send }, fields, tryBody(operation), button),
    el("div", { class: "answer" }, status, answer));
}

// ---- the page ----

function operationView({ method, path, operation }) {
  const steps = path.split(/(\{\w+\})/).map((step) => (step.startsWith("{") ? el("em", {}, step) : step));
  return el("article", {},
    el("div", { class: "about" }, el("p", { class: "tag" }, operation.tags.join(", ")),
      el("h1", { tabindex: -1 }, operation.summary),
      el("p", { class: "address" }, badge(method), el("code", {}, steps)),
      prose(operation.description), facts(operation),
      parameterSections(operation), bodySection(operation), answerSections(operation)),
    tryIt(method, path, operation));
}

function overview() {
  const { info, servers } = reference;
  const costs = Object.entries(reference["x-costs"] ?? {}).map(([name, number]) => fact(name, units(number)));
  return el("article", { class: "overview" }, el("div", { class: "about" },
    el("h1", { tabindex: -1 }, `${info.title} API`), prose(info.description),
    el("dl", { class: "facts" },
      fact("Server", el("code", {}, servers[0].url)), fact("Operations", String(operations.size))),
    section("Cost of a request", el("dl", { class: "facts" }, costs)),
    section("Error format", shapeOf({ $ref: "#/components/schemas/Error" }))));
}

function show(event) {
  const id = location.hash.slice(1);
  if (event && id === "content") return;
  const found = operations.get(id);
  $("content").replaceChildren(found ? operationView(found) : overview());
  document.title = `${found ? `${found.operation.summary} · ` : ""}${reference.info.title} API reference`;
  list();
  $("operations").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  if (!event) return;
  scrollTo(0, 0);
  $("content").querySelector("h1").focus({ preventScroll: true });
}

function link(method, path, { operationId, summary }) {
  const href = `#${operationId}`;
  const current = href === location.hash && "page";
  return el("li", {}, el("a", { href, title: path, "aria-current": current }, badge(method), el("span", {}, summary)));
}

function list() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...operations.values()].filter(({ text }) => words.every((word) => text.includes(word)));
  const groups = new Map();
  for (const { method, path, operation } of found) {
    const [tag] = operation.tags;
    groups.set(tag, [...(groups.get(tag) ?? []), link(method, path, operation)]);
  }
  $("operations").replaceChildren(...[...groups].sort().map(([tag, links]) => section(tag, el("ul", {}, links))));
  $("count").textContent = words.length ? `${found.length} of ${operations.size} operations` : "";
}

function keys(event) {
  const { key, target } = event;
  if (key === "Enter" && target === $("search")) $("operations").querySelector("a")?.click();
  if (key !== "/" || event.ctrlKey || event.metaKey || target.closest("input, textarea, select")) return;
  event.preventDefault();
  $("search").select();
}

async function start() {
  const answer = await fetch(new URL("openapi.json", ROOT));
  if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
  reference = await answer.json();
  read(reference);
  for (const [path, item] of Object.entries(reference.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const { operationId, summary, description, tags, "x-requires": requires } = operation;
      const text = [method, path, operationId, summary, description, requires, tags].join(" ").toLowerCase();
      operations.set(operationId, { method, path, operation, text });
    }
  }
  $("version").textContent = reference.info.version;
  $("search").addEventListener("input", list);
  addEventListener("hashchange", show);
  addEventListener("keydown", keys);
  show();
}

start().catch(({ message }) => {
  $("content").replaceChildren(el("p", { class: "problem" }, `The reference cannot be shown: ${message}`));
});
