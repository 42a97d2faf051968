// @vitest-environment jsdom
import { act } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it, vi } from "vitest";
import { Markdown } from "./markdown";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function shown(text: string, onCite?: (index: number) => void) {
  const place = document.createElement("div");
  act(() => createRoot(place).render(<Markdown onCite={onCite}>{text}</Markdown>));
  return place;
}

/** Show a text once the chunk that colours code is there. */
async function shownInColours(text: string): Promise<HTMLElement> {
  const place = shown(text);
  await act(async () => {
    await import("./highlighted_code");
    await new Promise((done) => setTimeout(done));
  });
  return place;
}

/** The code of a text once its colours are there, as pairs of class and token. */
async function tokensOf(text: string): Promise<(string | null)[][]> {
  const place = await shownInColours(text);
  return [...place.querySelectorAll(".code span")].map((token) => [token.className, token.textContent]);
}

describe("Markdown", () => {
  it.each([
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "a <iframe src=//evil.example></iframe> b",
    "<svg/onload=alert(1)>",
  ])("shows HTML as text: %s", (hostile) => {
    const place = shown(hostile);
    expect(place.querySelector("script, img, iframe, svg")).toBeNull();
    expect(place.textContent).toContain("<");
  });

  it.each(["[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,hi)", "[x](vbscript:x)"])(
    "does not link %s",
    (hostile) => {
      expect(shown(hostile).querySelector("a")).toBeNull();
    },
  );

  it("loads no picture", () => {
    expect(shown("![beacon](https://evil.example/x.png)").querySelector("img")).toBeNull();
  });

  it("makes elements of what is meant well", () => {
    const place = shown("**bold** and [a link](https://example.com)\n\n- one\n- two\n\n| a |\n|---|\n| b |");
    expect(place.querySelector("strong")?.textContent).toBe("bold");
    expect(place.querySelector("a")?.rel).toContain("noopener");
    expect(place.querySelectorAll("li")).toHaveLength(2);
    expect(place.querySelector("td")?.textContent).toBe("b");
  });

  it("keeps the columns of a table as they were meant", () => {
    const sums =
      "| Country | Orders | Sum | Note |\n|---|:---:|---:|:---|\n| Deutschland | 3 | 1.204,50 | A remark that has more than a few words |";
    const place = shown(sums);
    const aligned = (cells: string) =>
      [...place.querySelectorAll(cells)].map((cell) => cell.getAttribute("data-align"));
    expect(aligned("th")).toEqual([null, "center", "right", "left"]);
    expect(aligned("td")).toEqual([null, "center", "right", "left"]);
    const kept = [...place.querySelectorAll("td")].map((cell) => cell.hasAttribute("data-short"));
    expect(kept).toEqual([true, true, true, false]);
    // What is wider than the reply scrolls inside a region that the keyboard reaches and that has a name.
    expect(place.querySelector("[tabindex='0']")?.getAttribute("aria-label")).toBe("Table");
  });

  it("breaks a word only if it is too long for a column", () => {
    const word = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz";
    const place = shown(`| Product | Note |\n|---|---|\n| ${word} | A remark that has more than a few words |`);
    const long = [...place.querySelectorAll("td")].map((cell) => cell.hasAttribute("data-long"));
    expect(long).toEqual([true, false]);
  });

  it("lets code scroll, so that its indentation stays", () => {
    const place = shown("```py\ndef a():\n    return 1\n```");
    const code = place.querySelector(".code");
    expect(code?.textContent).toBe("def a():\n    return 1");
    expect(code?.getAttribute("tabindex")).toBe("0");
  });

  it("copies code", async () => {
    const writeText = vi.fn(() => Promise.resolve());
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    const place = shown("```\na b\n```");
    const button = place.querySelector("button");
    await act(async () => button?.click());
    expect(writeText).toHaveBeenCalledWith("a b");
    expect(button?.textContent).toBe("Copied");
    expect(place.querySelector("[role=status]")?.textContent).toBe("Copied");
    vi.unstubAllGlobals();
  });

  it("offers no copy where the page may not write to the clipboard", () => {
    vi.stubGlobal("navigator", {});
    expect(shown("```\na b\n```").querySelector("button")).toBeNull();
    vi.unstubAllGlobals();
  });

  it("colours the tokens of a known language", async () => {
    const tokens = await tokensOf("```Python\nreturn 1  # <b>\n```");
    expect(tokens.map(([, text]) => text)).toEqual(["return", "1", "# <b>"]);
    expect(new Set(tokens.map(([kind]) => kind)).size).toBe(3);
  });

  it("leaves code of other languages and very long code as they are", async () => {
    const long = "1 ".repeat(20_000);
    const place = await shownInColours(
      `\`\`\`brainfuck\n+<\n\`\`\`\n\n\`\`\`js\n${long}\n\`\`\`\n\n\`\`\`js\n1\n\`\`\``,
    );
    const codes = [...place.querySelectorAll(".code")];
    expect(codes.map((code) => code.textContent)).toEqual(["+<", long, "1"]);
    expect(codes.map((code) => code.querySelectorAll("span").length)).toEqual([0, 0, 1]);
  });

  it("keeps headings, lists, rules and line ends as they were meant", () => {
    const place = shown("## T\n\na\nb  \nc\n\n3. x\n   ```\n   y\n   ```\n\n---");
    expect(place.querySelector("h4")?.textContent).toBe("T");
    expect(place.querySelectorAll("p br")).toHaveLength(1);
    expect(place.querySelector("ol")?.start).toBe(3);
    expect(place.querySelector("li .code")?.textContent).toBe("y");
    expect(place.querySelector("hr")).not.toBeNull();
  });

  it("makes buttons of citations", () => {
    const cited: number[] = [];
    const place = shown("It is late [2].", (index) => cited.push(index));
    place.querySelector("button")?.click();
    expect(cited).toEqual([2]);
  });
});
