import style from "./reference.module.css";

/** GET, POST …, always as wide, so that paths stand below each other. */
export const MethodLabel = ({ method }: { method: string }) => (
  <span className={`mono ${style.method}`} data-method={method}>
    {method === "DELETE" ? "DEL" : method}
  </span>
);
