/** The initials of a person on a colour of their own. */
export function Avatar({ name, size }: { name: string; size?: "l" }) {
  const hues = ["k-model", "k-know", "k-tool", "k-sub", "k-flow", "k-form"];
  const letters = name
    .split(" ")
    .map((part) => part[0])
    .slice(0, 2)
    .join("");
  return (
    <span aria-hidden className={`avatar ${size ?? ""} ${hues[(name.charCodeAt(0) + name.length) % hues.length]}`}>
      {letters}
    </span>
  );
}
