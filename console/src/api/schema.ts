export type { components, operations, paths } from "@retinue/client/schema";
