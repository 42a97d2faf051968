import type { AuditFilters } from "./filters";

export const hasAuditFilters = ({ page: _, entry: __, ...filters }: AuditFilters) =>
  Object.values(filters).some(Boolean);

const instantOf = (day: string, time: string) => new Date(`${day}T${time}`).toISOString();

/** The days of a period as the moments in which it begins and ends. */
export const toAuditPeriod = ({ from, to }: Pick<AuditFilters, "from" | "to">) => ({
  ...(from ? { from: instantOf(from, "00:00:00.000") } : {}),
  ...(to ? { to: instantOf(to, "23:59:59.999") } : {}),
});

/** What the filters ask of the server. */
export const toAuditQuery = ({ action, actor, subject, request, refused, page, ...days }: AuditFilters) => ({
  page: page ?? 1,
  ...(action ? { action } : {}),
  ...(actor ? { actor_id: actor } : {}),
  ...(subject ? { subject_id: subject } : {}),
  ...(request ? { correlation_id: request } : {}),
  ...(refused ? { success: false } : {}),
  ...toAuditPeriod(days),
});
