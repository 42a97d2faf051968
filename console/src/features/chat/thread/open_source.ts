import { useState } from "react";

/** The source that the address names, as the reply and its number: "msg_….2". */
export type OpenSource = { messageId: string; index: number };

export function readOpenSource(text: unknown): OpenSource | undefined {
  const [messageId = "", number = ""] = typeof text === "string" ? text.split(".") : [];
  const index = Number(number);
  return messageId && Number.isInteger(index) && index > 0 ? { messageId, index } : undefined;
}

const readAddress = () => readOpenSource(new URLSearchParams(location.search).get("source"));

/**
 * The source that is open beside an answer. The address holds it, so that it survives a reload and the page can make
 * room; the router sees the change of the address.
 */
export function useOpenSource() {
  const [source, setSource] = useState(readAddress);
  const showSource = (next: OpenSource | undefined) => {
    setSource(next);
    const address = new URL(location.href);
    if (next) address.searchParams.set("source", `${next.messageId}.${next.index}`);
    else address.searchParams.delete("source");
    history.replaceState(history.state, "", address);
  };
  return { source, open: showSource, close: () => showSource(undefined) };
}
