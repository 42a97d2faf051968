import { writeLocalDay } from "../../shared/local_day";

/** The last day of a credential, where the person is: it expires at the end of that day. */
export const expiryDayOf = (at: string | null) => (at ? writeLocalDay(new Date(at)) : "");

/** The last second of a day where the person is. */
export const expiryOfDay = (day: string) => new Date(`${day}T23:59:59`).toISOString();
