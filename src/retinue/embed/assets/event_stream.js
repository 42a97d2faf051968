/** Reads server-sent events from pieces of text that may break anywhere. */
class EventStreamReader {
  constructor() {
    this.rest = "";
    this.begin();
  }

  begin() {
    this.name = "message";
    this.data = [];
  }

  /** The events that are complete with this piece, each as { name, data }. */
  push(piece) {
    const text = this.rest + piece;
    const events = [];
    let start = 0;
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      // A lone CR at the very end may be the first half of a CRLF.
      if (end[0] === "\r" && end.index === text.length - 1) break;
      this.line(text.slice(start, end.index), events);
      start = end.index + end[0].length;
    }
    this.rest = text.slice(start);
    return events;
  }

  line(line, events) {
    if (line === "") {
      if (this.data.length) events.push({ name: this.name, data: this.data.join("\n") });
      this.begin();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value || "message";
    if (field === "data") this.data.push(value);
  }
}
