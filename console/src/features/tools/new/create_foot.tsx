import { Button } from "@mantine/core";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import type { ToolMade } from "../queries";
import en from "../words.en.json";
import style from "./new_tool.module.css";

const say = createTranslator(en, "features/tools");
/** What each way to a new tool is told. */
export type WayProps = { onMade: (tool: ToolMade) => void; onCancel: () => void };

type CreateFootProps = {
  text: string;
  isBusy: boolean;
  isDisabled?: boolean;
  onCreate: () => void;
  onCancel: () => void;
};

/** Says what will be made, and makes it. */
export const CreateFoot = ({ text, isBusy, isDisabled, onCreate, onCancel }: CreateFootProps) => (
  <div className={style.foot}>
    <span className="t-13 t-2 grow">{text}</span>
    <Button variant="default" onClick={onCancel}>
      {general("cancel")}
    </Button>
    <Button loading={isBusy} disabled={isDisabled} onClick={onCreate}>
      {say("create")}
    </Button>
  </div>
);
