export const padTwoDigits = (number: number) => String(number).padStart(2, "0");

/** The day of a moment where the person is, as a date field has it: "2026-11-18". */
export const writeLocalDay = (at: Date) =>
  `${String(at.getFullYear()).padStart(4, "0")}-${padTwoDigits(at.getMonth() + 1)}-${padTwoDigits(at.getDate())}`;
