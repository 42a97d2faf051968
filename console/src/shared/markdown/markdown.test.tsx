import { act } from "react";
import { createRoot } from "react-dom/client";
import { describe, expect, it } from "vitest";
import { Markdown } from "./markdown";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function shown(text: string, onCite?: (index: number) => void) {
  const place = document.createElement("div");
  act(() => createRoot(place).render(<Markdown onCite={onCite}>{text}</Markdown>));
  return place;
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

  it("makes buttons of citations", () => {
    const cited: number[] = [];
    const place = shown("It is late [2].", (index) => cited.push(index));
    place.querySelector("button")?.click();
    expect(cited).toEqual([2]);
  });
});
