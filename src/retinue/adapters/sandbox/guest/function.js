// Runs the code of a JavaScript function, in QuickJS and in Node alike; both find `retinue` on the global object.
(() => {
  const { parse, stringify } = JSON;
  const globally = eval;
  const NAMES = ["main", "handler", "run", "execute"];
  const DECLARED = /^(?:async\s+)?function\s*\*?\s*([\w$]+)|^(?:const|let|var)\s+([\w$]+)\s*=/gm;

  const isFunction = (value) => typeof value === "function";
  const only = (functions) => (functions.length === 1 ? functions[0] : undefined);

  const named = (name) => {
    try {
      const value = globalThis.retinue.look(name);
      return isFunction(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };

  const exported = (values) => {
    if (isFunction(values)) return values;
    if (typeof values !== "object" || values === null) return undefined;
    const known = ["default", ...NAMES].map((name) => values[name]).find(isFunction);
    return known ?? only(Object.values(values).filter(isFunction));
  };

  const declared = (source) => {
    const names = [...source.matchAll(DECLARED)].map((found) => found[1] ?? found[2]);
    return only([...new Set(names)].map(named).filter(isFunction));
  };

  const pick = (source, values) =>
    named("main") ?? exported(values) ?? NAMES.map(named).find(isFunction) ?? declared(source);

  const written = (value) => {
    const text = stringify(value === undefined ? null : value);
    if (text === undefined) throw new TypeError("the return value cannot be written as JSON");
    return text;
  };

  globalThis.module = { exports: {} };
  globalThis.exports = globalThis.module.exports;
  globalThis.retinue = {
    // A module brings its own, for what it declares is seen by nobody else.
    look: (name) => globally(name),
    pending: undefined,
    // The output as JSON, or null while `pending` has to be awaited for it.
    begin: (source, values, input) => {
      const chosen = pick(source, values ?? globalThis.module?.exports);
      if (!chosen) throw new ReferenceError("the code must define a function main(input)");
      const value = chosen(parse(input));
      if (!isFunction(value?.then)) return written(value);
      globalThis.retinue.pending = Promise.resolve(value).then(written);
      return null;
    },
  };
})();
