/** What is still unsaved once `sent` has arrived: fields that changed again meanwhile. */
export const dropSentEdits = <Edits extends object>(edits: Edits, sent: Edits): Edits =>
  Object.fromEntries(Object.entries(edits).filter(([field, value]) => sent[field as keyof Edits] !== value)) as Edits;
