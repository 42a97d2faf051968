// Runs the code of a JavaScript function in QuickJS or Node; both find `retinue` on the global object.
(() => {
  const { parse, stringify } = JSON;
  const globalEval = eval;
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
    const preferred = ["default", ...NAMES].map((name) => values[name]).find(isFunction);
    return preferred ?? only(Object.values(values).filter(isFunction));
  };

  const declared = (source) => {
    const names = [...source.matchAll(DECLARED)].map((match) => match[1] ?? match[2]);
    return only([...new Set(names)].map(named).filter(isFunction));
  };

  const pick = (source, values) =>
    named("main") ?? exported(values) ?? NAMES.map(named).find(isFunction) ?? declared(source);

  const toJson = (value) => {
    const text = stringify(value === undefined ? null : value);
    if (text === undefined) throw new TypeError("the return value cannot be converted to JSON");
    return text;
  };

  globalThis.module = { exports: {} };
  globalThis.exports = globalThis.module.exports;
  globalThis.retinue = {
    // A module replaces this, because only the module itself can see its declarations.
    look: (name) => globalEval(name),
    pending: undefined,
    // Returns the output as JSON, or null if `pending` must be awaited first.
    begin: (source, values, input) => {
      const entrypoint = pick(source, values ?? globalThis.module?.exports);
      if (!entrypoint) throw new ReferenceError("the code must define a function main(input)");
      const value = entrypoint(parse(input));
      if (!isFunction(value?.then)) return toJson(value);
      globalThis.retinue.pending = Promise.resolve(value).then(toJson);
      return null;
    },
  };
})();
