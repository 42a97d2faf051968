import { useDocumentTitle } from "@mantine/hooks";

/** Name the page in the tab and the history of the browser. */
export const usePageTitle = (title: string) => useDocumentTitle(`${title} · Retinue`);
