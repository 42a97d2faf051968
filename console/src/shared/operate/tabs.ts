/** The parts of Operate in their order; all of them speak of every organization of the server. */
export const OPERATE_TABS = [
  { word: "overview", to: "/operate" },
  { word: "jobs", to: "/operate/jobs" },
  { word: "mails", to: "/operate/mails" },
  { word: "organizations", to: "/operate/organizations" },
] as const;

export const OPERATE_PERMISSION = "admin:tenants";
export type OperateTab = (typeof OPERATE_TABS)[number];
