import { basePath } from "./base";

const KEY = "retinue.tenant";

/** The tenant that a super administrator acts in; only in this tab, so that two tabs may show two tenants. */
export const readActingTenant = () =>
  typeof sessionStorage === "undefined" ? undefined : (sessionStorage.getItem(KEY) ?? undefined);

/** Everything on the page belongs to a tenant, so a change loads it again. */
export function actInTenant(id?: string) {
  if (id) sessionStorage.setItem(KEY, id);
  else sessionStorage.removeItem(KEY);
  location.assign(`${basePath}/console/`);
}

export const forgetActingTenant = () => sessionStorage.removeItem(KEY);
