// Schemas of the OpenAPI document as elements. Its content is inserted only as text, never as HTML.

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

export const small = (text) => el("span", { class: "limit" }, text);
export const hint = (text) => el("p", { class: "hint" }, text);
export const required = () => el("span", { class: "required" }, "required");

// ---- the document ----

let reference;

// The OpenAPI document that all references point into.
export function read(found) {
  reference = found;
}

export function resolve(node) {
  while (node.$ref) node = node.$ref.slice(2).split("/").reduce((target, step) => target[step], reference);
  return node;
}

const choices = (schema) => (schema.anyOf ?? schema.oneOf)?.filter((option) => option.type !== "null");
const inside = (schema) => schema.items ?? (schema.properties ? undefined : schema.additionalProperties);

function typeName(schema) {
  const values = resolve(schema).enum;
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.$ref) return schema.$ref.split("/").pop();
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(typeName).join(" | ");
  if (schema.contentMediaType) return "file";
  const item = inside(schema) && typeName(inside(schema));
  if (schema.type === "array") return item ? `${item.includes(" | ") ? `(${item})` : item}[]` : "array";
  if (item) return `{ …: ${item} }`;
  return schema.type ?? "any";
}

function range(least, most, unit = "") {
  if (least !== undefined && most !== undefined) return `${least}–${most}${unit}`;
  return least !== undefined ? `≥ ${least}${unit}` : most !== undefined && `≤ ${most}${unit}`;
}

function limits(schema) {
  const only = choices(schema);
  return [
    schema.format,
    schema.writeOnly && "secret",
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum !== undefined && `> ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `< ${schema.exclusiveMaximum}`,
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    schema.pattern && `like ${schema.pattern}`,
    schema.default != null && `default ${JSON.stringify(schema.default)}`,
    ...(only?.length === 1 ? limits(only[0]) : []),
  ].filter(Boolean);
}

// `seen` holds the references on the current path: a recursive schema ends in null or [].
export function example(schema, seen = []) {
  if (schema.default != null) return schema.default;
  if (schema.$ref) return seen.includes(schema.$ref) ? null : example(resolve(schema), [...seen, schema.$ref]);
  if (schema.enum) return schema.enum[0];
  const options = choices(schema);
  if (options) return example(options.find((option) => !seen.includes(option.$ref)) ?? {}, seen);
  if (schema.properties) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, example(field, seen)]));
  }
  const items = schema.items ?? {};
  if (schema.type === "array") return schema.items && !seen.includes(items.$ref) ? [example(items, seen)] : [];
  const least = schema.minimum ?? 0;
  return { object: {}, boolean: false, integer: least, number: least, string: "string" }[schema.type] ?? null;
}

// ---- text and schemas as elements ----

const inline = (text) => text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? el("code", {}, part) : part));

export function prose(text) {
  return (text ?? "").split(/\n\n+/).filter(Boolean).map((block) => {
    if (!block.startsWith("- ")) return el("p", {}, inline(block));
    return el("ul", {}, block.slice(2).split(/\n- /).map((item) => el("li", {}, inline(item))));
  });
}

export function json(value) {
  const text = JSON.stringify(value, null, 2);
  const block = el("pre", { class: "json", tabindex: 0 });
  let end = 0;
  for (const found of text.matchAll(/("(?:\\.|[^"\\])*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g)) {
    const kind = found[2] ? "key" : found[1] ? "text" : "other";
    const token = found[1] ?? found[0];
    block.append(text.slice(end, found.index), el("span", { class: kind }, token));
    end = found.index + token.length;
  }
  block.append(text.slice(end));
  return block;
}

// `place` tells whether a client sends the schema, the depth of this row, and the outermost schema.
export function row(name, schema, isRequired, place, description) {
  const line = [
    name && el("code", { class: "name" }, name),
    el("span", { class: "type" }, typeName(schema)),
    name && (place.sent ? isRequired && required() : !isRequired && small("optional")),
    limits(schema).map(small),
  ];
  const notes = el("div", {}, prose(description ?? schema.description), kinds(schema["x-config-schemas"], place));
  if (!hasFields(schema)) return el("li", {}, el("div", { class: "line" }, line), notes);
  const folded = el("details", {}, el("summary", { class: "line" }, line));
  // Filled when opened, so that a recursive schema does not become an endless tree.
  folded.addEventListener("toggle", () => {
    (folded.open ? folded.firstElementChild : folded).after(notes);
    if (folded.childElementCount === 2) folded.append(tree(schema, { ...place, depth: place.depth + 1 }));
  });
  folded.open = name && place.depth === 0 && !references(schema).includes(place.root);
  return el("li", {}, folded, notes);
}

const parts = (schema) => (choices(schema) ?? [inside(schema)]).filter((part) => part instanceof Object);
const references = (schema) => (schema.$ref ? [schema.$ref] : parts(schema).flatMap(references));
const hasFields = (schema) => Boolean(resolve(schema).properties) || parts(resolve(schema)).some(hasFields);

function tree(schema, place) {
  const shape = resolve(schema);
  const options = choices(shape);
  if (inside(shape)) return tree(inside(shape), place);
  if (options?.length === 1) return tree(options[0], place);
  if (options) {
    return el("div", { class: "choice" }, hint("One of"),
      el("ul", { class: "tree" }, options.map((option) => row(null, option, true, place))));
  }
  // A channel's keys are required unless a credential takes their place.
  const needed = shape.required ?? shape.else?.required;
  return el("ul", { class: "tree" }, Object.entries(shape.properties ?? {}).map(([name, field]) =>
    row(name, field, needed?.includes(name), place)));
}

// The schemas of a free-form object, one for each of its kinds; each is filled when opened.
function kinds(schemas, place) {
  return schemas && el("div", { class: "kinds" }, hint("One of these kinds"), el("ul", {},
    Object.entries(schemas).map(([kind, schema]) => el("li", {}, kindOf(kind, schema, place)))));
}

function kindOf(kind, schema, place) {
  const folded = el("details", {}, el("summary", { class: "line" },
    el("code", { class: "name" }, kind), el("span", { class: "type" }, typeName(schema))));
  folded.addEventListener("toggle", () => {
    if (folded.childElementCount > 1) return;
    const { description, properties, examples } = resolve(schema);
    folded.append(...prose(description));
    if (Object.keys(properties ?? {}).length) folded.append(tree(schema, { ...place, depth: 1 }));
    for (const found of examples ?? []) folded.append(hint("Example"), json(found));
  });
  return folded;
}

export function shapeOf(schema, sent = false) {
  return [
    el("p", { class: "line" }, el("span", { class: "type" }, typeName(schema)), limits(schema).map(small)),
    prose(resolve(schema).description),
    hasFields(schema) && tree(schema, { sent, depth: 0, root: schema.$ref }),
  ];
}
