import Plus from "icon:plus";
import { Autocomplete, Button, Popover } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { closesByEscape } from "../../shared/popover_escape";
import { ModelPriceForm } from "../../shared/providers/price_form";
import { isPricedByTokens, modelListQuery } from "../../shared/providers/queries";
import style from "./usage.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/usage");
const MODEL_ID = /^[^/\s]+\/\S+$/;
const MAX_SHOWN = 50;
const NO_PRICES = {
  input_price_per_mtok: null,
  output_price_per_mtok: null,
  cached_input_price_per_mtok: null,
  cache_write_price_per_mtok: null,
  source: null,
};

/** A price of one's own: for a model that is listed, or for any other by its name. */
export function NewPriceButton() {
  const [isOpen, setOpen] = useState(false);
  const closing = closesByEscape(() => setOpen(false));
  const [text, setText] = useState("");
  const models = useQuery({ ...modelListQuery, enabled: isOpen });
  const priced = (models.data?.data ?? []).filter((model) => isPricedByTokens(model) && model.provider !== "local");
  const id = text.trim();
  const known = priced.find((model) => model.id === id);
  const closeForm = () => {
    setOpen(false);
    setText("");
  };
  return (
    <Popover
      {...closing.popover}
      opened={isOpen}
      onChange={setOpen}
      trapFocus
      returnFocus
      position="bottom-end"
      width={360}
      shadow="md"
    >
      <Popover.Target>
        <Button leftSection={<Plus size={14} />} onClick={() => setOpen(!isOpen)}>
          {say("setPrice")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown {...closing.dropdown} className={`stack g12 ${style.pop}`} aria-label={say("setPrice")}>
        <Autocomplete
          label={say("model")}
          description={say("modelHint")}
          placeholder={say("modelExample")}
          limit={MAX_SHOWN}
          comboboxProps={{ withinPortal: false }}
          data={priced.map((model) => model.id)}
          value={text}
          onChange={setText}
        />
        {MODEL_ID.test(id) && (
          <ModelPriceForm key={known?.id ?? "new"} model={known ?? { ...NO_PRICES, id }} onDone={closeForm} />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
