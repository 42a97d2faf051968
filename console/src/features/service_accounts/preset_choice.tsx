import Eye from "icon:eye";
import ListChecks from "icon:list-checks";
import MessagesSquare from "icon:messages-square";
import UserCheck from "icon:user-check";
import { createTranslator } from "../../shared/i18n/words";
import { listPresetKeys, PRESETS, type Preset } from "./presets";
import style from "./service_accounts.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/service_accounts");
const ICONS = { chat: MessagesSquare, read: Eye, everything: UserCheck, own: ListChecks };

type PresetChoiceProps = { held: string[]; chosen?: Preset; onChoose: (preset: Preset, keys: string[]) => void };

/** What the program may do, in one click. A preset that would give nothing is not offered. */
export const PresetChoice = ({ held, chosen, onChoose }: PresetChoiceProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid of cards in every browser
  <div className={style.presets} role="group" aria-label={say("preset")}>
    {PRESETS.filter((preset) => preset === "own" || listPresetKeys(preset, held).length > 0).map((preset) => {
      const Icon = ICONS[preset];
      const keys = listPresetKeys(preset, held);
      return (
        <button
          key={preset}
          type="button"
          className={style.preset}
          aria-pressed={preset === chosen}
          onClick={() => onChoose(preset, keys)}
        >
          <span className="row g8 t-500 t-13">
            <Icon size={15} />
            <span className="grow">{say(`preset_${preset}`)}</span>
            {preset !== "own" && <span className="t-12 t-3 num">{keys.length}</span>}
          </span>
          <span className="t-12 t-2">{say(`preset_${preset}_note`)}</span>
        </button>
      );
    })}
  </div>
);
