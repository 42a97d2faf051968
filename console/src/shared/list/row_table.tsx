import { type ReactNode, useRef } from "react";
import { useRowKeys } from "../frame/keys";

type Props = { title: string; className?: string; children: ReactNode };

/** A table with a row per object: `J` and `K` go through them, and a narrow window scrolls it sideways. */
export function RowTable({ title, className = "", children }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div className="scroll-x" ref={list}>
      <table className={`table ${className}`}>
        <caption className="sr">{title}</caption>
        {children}
      </table>
    </div>
  );
}
