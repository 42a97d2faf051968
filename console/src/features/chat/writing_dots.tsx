import style from "./writing_dots.module.css";

/** Three dots that move while a reply is being written; their size is that of the text around them. */
export const WritingDots = () => (
  <span className={style.dots} aria-hidden>
    <i />
    <i />
    <i />
  </span>
);
