/**
 * Hide the tooltip of what is clicked: it has said what the click does, and would lie over what that opened. Tooltips
 * listen for the pointer to leave, natively; handlers of React do not hear of it.
 */
export function hideTooltipsOnClick(page: Document = document): void {
  page.addEventListener(
    "click",
    ({ target }) => {
      for (let one = target instanceof Element ? target : null; one; one = one.parentElement)
        one.dispatchEvent(new MouseEvent("mouseleave"));
    },
    true,
  );
}
