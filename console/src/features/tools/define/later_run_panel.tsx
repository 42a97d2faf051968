import { type ComponentProps, lazy, Suspense } from "react";
import style from "./define.module.css";

const RunPanel = lazy(() => import("./run_panel").then((found) => ({ default: found.RunPanel })));

/** The panel to try a tool, fetched once its definition is drawn. */
export const LaterRunPanel = (props: ComponentProps<typeof RunPanel>) => (
  <Suspense fallback={<div className={style.right} aria-busy />}>
    <RunPanel {...props} />
  </Suspense>
);
