import type { components } from "../../api/schema";

export type Home = components["schemas"]["Home"];
export type Need = components["schemas"]["Need"];
export type Today = components["schemas"]["Today"];
export type ComparedDay = components["schemas"]["ComparedDay"];
export type Checklist = components["schemas"]["Checklist"];
