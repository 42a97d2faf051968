// What code expects and QuickJS has not: a console, timers, and somebody who waits for promises.
(() => {
  const { log, retinue } = globalThis;
  const { stringify } = JSON;
  const { now } = Date;
  delete globalThis.log;

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}\n${value.stack}`;
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  // Each line crosses over to the host, so lines that nobody will see are not sent.
  let room = 8 * 1024;
  const write = (...values) => {
    if (room <= 0) return;
    const line = values.map(shown).join(" ").slice(0, room);
    room -= line.length + 1;
    log(line);
  };
  globalThis.console = { log: write, info: write, debug: write, warn: write, error: write };

  const timers = new Map();
  let latest = 0;
  const begin = (callback, wanted, values, repeats) => {
    const ms = Math.max(repeats ? 1 : 0, Number(wanted) || 0);
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
  let followed;
  // The output once it is there; until then the milliseconds to wait, less than none if nothing can happen any more.
  retinue.step = () => {
    if (followed === undefined) {
      followed = retinue.pending.then(
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
