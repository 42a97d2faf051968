export const TEMPLATES = ["guide", "support", "writer"] as const;
export type TemplateName = (typeof TEMPLATES)[number];
