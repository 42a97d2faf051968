import { locale } from "../i18n/language";

/** How many rows a list has, beside its title. */
export const ListCount = ({ total }: { total: number | undefined }) =>
  total !== undefined && <span className="t-3 num t-13">{total.toLocaleString(locale)}</span>;
