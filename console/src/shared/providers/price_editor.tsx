import { Popover } from "@mantine/core";
import { type ReactElement, useState } from "react";
import style from "./price_editor.module.css";
import { ModelPriceForm, type PricedModel } from "./price_form";

type Props = {
  model: PricedModel;
  /** The name of what opens. */
  title: string;
  /** The button that opens it. */
  children: (toggle: () => void) => ReactElement;
};

/** A button that opens the form of a model's price beside itself. */
export function ModelPriceEditor({ model, title, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-end" width={340} shadow="md">
      <Popover.Target>{children(() => setOpen(!isOpen))}</Popover.Target>
      <Popover.Dropdown className={style.pop} aria-label={title}>
        <ModelPriceForm model={model} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
