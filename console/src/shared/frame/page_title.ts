import { useEffect } from "react";

/** Name the page in the tab and the history of the browser. */
export function usePageTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Retinue`;
  }, [title]);
}
