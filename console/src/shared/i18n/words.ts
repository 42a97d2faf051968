type Values = Record<string, string | number>;
type Table = Record<string, string>;

const PLURAL = /\{(\w+), plural, one \{([^{}]*)\} other \{([^{}]*)\}\}/g;

/** Put values into a text: `{name}` and `{count, plural, one {# agent} other {# agents}}`. */
export function render(text: string, values: Values, language = "en"): string {
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return text
    .replace(PLURAL, (_, name: string, one: string, other: string) => {
      const count = Number(values[name]);
      return (rules.select(count) === "one" ? one : other).replaceAll("#", numbers.format(count));
    })
    .replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : value;
    });
}

/** The words of a feature: `const say = words(en)`, then `say("title")`. A key that is missing does not compile. */
export const words =
  <T extends Table>(table: T) =>
  (key: keyof T & string, values: Values = {}): string =>
    render(table[key] ?? key, values);
