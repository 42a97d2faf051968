import en from "./form.en.json";

/** What form pages say. The service validates answers in English, so that all of the page is in one language. */
export const formWords = en;
export type FormWords = typeof en;
