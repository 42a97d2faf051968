// What QuickJS lacks: a console, timers, and a loop that settles promises.
(() => {
  const { log, retinue } = globalThis;
  const { stringify } = JSON;
  const { now } = Date;
  delete globalThis.log;

  const format = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}\n${value.stack}`;
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  // Each line is copied to the host, so lines beyond the log limit are not sent.
  let remaining = 8 * 1024;
  const write = (...values) => {
    if (remaining <= 0) return;
    const line = values.map(format).join(" ").slice(0, remaining);
    remaining -= line.length + 1;
    log(line);
  };
  globalThis.console = { log: write, info: write, debug: write, warn: write, error: write };

  const timers = new Map();
  let latest = 0;
  const begin = (callback, delay, values, repeats) => {
    const ms = Math.max(repeats ? 1 : 0, Number(delay) || 0);
    latest += 1;
    timers.set(latest, { at: now() + ms, every: repeats ? ms : undefined, callback, values });
    return latest;
  };
  const end = (timer) => void timers.delete(timer);
  globalThis.setTimeout = (callback, ms, ...values) => begin(callback, ms, values, false);
  globalThis.setInterval = (callback, ms, ...values) => begin(callback, ms, values, true);
  globalThis.clearTimeout = end;
  globalThis.clearInterval = end;

  const earliest = () => [...timers].reduce((a, b) => (b[1].at < a[1].at ? b : a));
  const fire = ([id, timer]) => {
    if (timer.every) timer.at += timer.every;
    else timers.delete(id);
    timer.callback(...timer.values);
  };

  let outcome;
  let subscription;
  // Returns the output, or the milliseconds to wait for it; a negative number means that it never comes.
  retinue.step = () => {
    if (subscription === undefined) {
      subscription = retinue.pending.then(
        (text) => (outcome = { text }),
        (error) => (outcome = { error }),
      );
      return 0;
    }
    if (outcome && "error" in outcome) throw outcome.error;
    if (outcome) return outcome.text;
    if (timers.size === 0) return -1;
    const next = earliest();
    const ms = next[1].at - now();
    if (ms > 0) return ms;
    fire(next);
    return 0;
  };
})();
