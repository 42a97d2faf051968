/** A second click within this time belongs to the first: a double click, or a key that was pressed twice. */
const DOUBLE_MS = 500;
/** A write that begins this soon after a click is what the click asked for. */
const CAUSED_MS = 300;
const BUTTONS = "button, [role=button], input[type=submit]";

type Click = { button: Element; atMs: number; hasWritten: boolean; pending: number };
let last: Click | undefined;

/** Note that a request is about to change something; `answer` settles when it is over. */
export function noteWrite<T>(answer: Promise<T>, nowMs = performance.now()): Promise<T> {
  const click = last;
  if (!click || nowMs - click.atMs > CAUSED_MS) return answer;
  click.hasWritten = true;
  click.pending += 1;
  const settleWrite = () => {
    click.pending -= 1;
  };
  answer.then(settleWrite, settleWrite);
  return answer;
}

/** Whether a click would send once more what the click before it has sent; notes the click if not. */
export function isRepeatedClick(button: Element, nowMs = performance.now()): boolean {
  const isAgain = last?.button === button && last.hasWritten && (last.pending > 0 || nowMs - last.atMs < DOUBLE_MS);
  if (!isAgain) last = { button, atMs: nowMs, hasWritten: false, pending: 0 };
  return isAgain;
}

/** What was typed or chosen since then makes the next click another one. */
export function forgetLastClick() {
  last = undefined;
}

/**
 * Drop repeated clicks before any screen hears of them: a button is drawn as busy a moment too late for a double click,
 * and one in a dialog that fades away is no longer busy. A form that Enter submits clicks its button too.
 */
export function dropRepeatedClicks() {
  const stopRepeatedClick = (event: MouseEvent) => {
    const button = event.target instanceof Element ? event.target.closest(BUTTONS) : null;
    if (!button || !isRepeatedClick(button)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("click", stopRepeatedClick, true);
  window.addEventListener("input", forgetLastClick, true);
}
