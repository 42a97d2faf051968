import { type ReactNode, startTransition, useCallback, useRef, useState } from "react";

/** How far out of sight something is drawn already. */
const MARGIN = "900px 0px";
const observers = new WeakMap<Element | Document, IntersectionObserver>();
const watched = new WeakMap<Element, (isNear: boolean) => void>();

/** The element that scrolls what is in it; the window if there is none. */
function findScroller(element: Element): Element | Document {
  for (let parent = element.parentElement; parent; parent = parent.parentElement)
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent;
  return document;
}

/** One observer for all in one list: they have the same parent, and so the same scroller. */
function findObserver(element: Element): IntersectionObserver {
  const list = element.parentElement ?? document;
  const known = observers.get(list);
  if (known) return known;
  const made = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) watched.get(target)?.(isIntersecting);
    },
    { root: findScroller(element), rootMargin: MARGIN },
  );
  observers.set(list, made);
  return made;
}

type Props = {
  /** Its height until it was drawn once. */
  height: number;
  /** Draw it wherever it is. */
  isAlways: boolean;
  children: ReactNode;
};

/** Draws what it holds only near the visible part; elsewhere an empty box keeps its place. */
export function RenderWhenNear({ height, isAlways, children }: Props) {
  const [isNear, setNear] = useState(false);
  const measured = useRef(height);
  const watch = useCallback((element: HTMLDivElement) => {
    const observer = findObserver(element);
    watched.set(element, (isNow) => {
      if (!isNow && element.firstChild) measured.current = element.offsetHeight;
      // In a transition: a page of replies takes longer to draw than a key or a click may wait.
      startTransition(() => setNear(isNow));
    });
    observer.observe(element);
    return () => observer.unobserve(element);
  }, []);
  const isDrawn = isAlways || isNear;
  return (
    <div ref={isAlways ? undefined : watch} style={isDrawn ? undefined : { blockSize: measured.current }}>
      {isDrawn && children}
    </div>
  );
}
