/** JSON in our colours, without any HTML string. */
export function JsonView({ value, max }: { value: unknown; max?: number }) {
  const text = JSON.stringify(value, null, 2);
  const parts = text.split(/("(?:[^"\\]|\\.)*"(?:\s*:)?|\b-?\d+(?:\.\d+)?\b|\btrue\b|\bfalse\b|\bnull\b)/);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <pre className="code" tabIndex={0} role="group" aria-label="JSON" style={{ maxHeight: max }}>
      {parts.map((part, i) => {
        if (i % 2 === 0) return part;
        const kind = part.endsWith(":") ? "k" : part.startsWith('"') ? "s" : /^[tfn]/.test(part) ? "l" : "n";
        return (
          <span key={i} className={kind}>
            {part}
          </span>
        );
      })}
    </pre>
  );
}
