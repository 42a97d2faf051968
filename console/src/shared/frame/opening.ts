const OPENED = "retinue.opened";

/** Whether this tab has shown the console since somebody signed in. */
export const wasOpened = () => sessionStorage.getItem(OPENED) !== null;
export const noteOpening = () => sessionStorage.setItem(OPENED, "1");
/** Forget that the console was shown: the next person begins anew. */
export const forgetOpening = () => sessionStorage.removeItem(OPENED);
