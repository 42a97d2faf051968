import type { KeyboardEvent } from "react";

/** Whether a list of choices is open at the element: then Escape is meant for the list. */
const hasOpenList = (element: EventTarget) =>
  element instanceof Element && element.getAttribute("data-mantine-stop-propagation") === "true";

/**
 * What a popover needs so that Escape in an open list within it closes the list alone. The popover's own handling comes
 * before that of the list, so it is switched off.
 */
export const closesByEscape = (onClose: () => void) => ({
  popover: { closeOnEscape: false },
  dropdown: {
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Escape" && !hasOpenList(event.target)) onClose();
    },
  },
});
