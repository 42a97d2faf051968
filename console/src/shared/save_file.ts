const RELEASE_AFTER_MS = 1000;

/** Save a file: the link of a browser would not carry the session, so it is read first. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  // Some browsers begin to read the file after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), RELEASE_AFTER_MS);
}

/** Save a text as a file. */
export const saveTextFile = (name: string, text: string, type: string) => saveFile(new Blob([text], { type }), name);
