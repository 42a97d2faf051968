import { Button } from "@mantine/core";
import { createTranslator } from "../i18n/words";
import style from "./list.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/list");

type Props = { page: number; perPage: number; total: number; onChange: (page: number) => void };

/** The foot of a list that has more rows than a page. */
export function PageSwitcher({ page, perPage, total, onChange }: Props) {
  if (total <= perPage) return null;
  const from = (page - 1) * perPage + 1;
  const to = Math.min(total, page * perPage);
  return (
    <div className={style.foot}>
      <span className="t-13 t-3 num">{say("pageOf", { from, to, total })}</span>
      <Button size="xs" variant="default" disabled={page <= 1} onClick={() => onChange(page - 1)}>
        {say("previousPage")}
      </Button>
      <Button size="xs" variant="default" disabled={to >= total} onClick={() => onChange(page + 1)}>
        {say("nextPage")}
      </Button>
    </div>
  );
}
