type Props = { label: string; isOn: boolean; isPartly?: boolean; onChange: (isOn: boolean) => void };

/** The box of a row. A page has fifty of them, and a plain one is drawn in a third of the time. */
export function RowCheckbox({ label, isOn, isPartly = false, onChange }: Props) {
  return (
    <input
      type="checkbox"
      className="tick"
      aria-label={label}
      checked={isOn}
      ref={(box) => {
        if (box) box.indeterminate = isPartly;
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
