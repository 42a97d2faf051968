import { SegmentedControl } from "@mantine/core";
import { createTranslator } from "../i18n/words";
import en from "./words.en.json";

const say = createTranslator(en, "shared/trace");
type Shown = "look" | undefined;

/** All rows of a list, or those that need a look. */
export const LookSwitch = ({ value, onChange }: { value: Shown; onChange: (value: Shown) => void }) => (
  <SegmentedControl
    aria-label={say("shownRows")}
    data={[
      { value: "", label: say("all") },
      { value: "look", label: say("needsLook") },
    ]}
    value={value ?? ""}
    onChange={(chosen) => onChange(chosen === "look" ? chosen : undefined)}
  />
);
