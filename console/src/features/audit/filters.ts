import {
  createAddressReader,
  readCalendarDay,
  readPageNumber,
  readTextUpTo,
  readTrueFlag,
} from "../../shared/list/address";

/** Which entries are asked for; `entry` is the one whose panel is open. */
export type AuditFilters = {
  /** One action, or all that begin alike: `auth.*`. */
  action?: string;
  actor?: string;
  subject?: string;
  request?: string;
  refused?: boolean;
  /** Days of this place, such as 2026-11-18; both belong to the period. */
  from?: string;
  to?: string;
  page?: number;
  entry?: string;
};

const readAuditText = readTextUpTo(128);

/** Read the filters of the log from the address; what does not belong there is left out. */
export const readAuditFilters = createAddressReader<AuditFilters>({
  action: readAuditText,
  actor: readAuditText,
  subject: readAuditText,
  request: readAuditText,
  entry: readAuditText,
  from: readCalendarDay,
  to: readCalendarDay,
  refused: readTrueFlag,
  page: readPageNumber,
});
