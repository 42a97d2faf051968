import { Button, SegmentedControl, Switch, Textarea, TextInput } from "@mantine/core";
import { contrastRatio, isColour } from "@retinue/colours";
import { useState } from "react";
import { readTokenValue } from "../../design/token";
import { createTranslator } from "../../shared/i18n/words";
import { formatDecimal } from "../../shared/time";
import { findNearestReadableColour } from "./contrast";
import type { Settings } from "./queries";
import { findSuggestionProblem, parseSuggestions } from "./suggestions";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
// The widget stands on the same sheet as the console.
const GROUNDS = { light: ["sheet-light"], dark: ["sheet-dark"], auto: ["sheet-light", "sheet-dark"] };
const TEXT_LEAST = 4.5;
const PART_LEAST = 3;

type Props = { settings: Settings; onChange: (part: Partial<Settings>) => void; isDisabled: boolean };

export function WidgetDesigner({ settings, onChange, isDisabled }: Props) {
  const [suggestions, setSuggestions] = useState((settings.suggestions ?? []).join("\n"));
  const problem = findSuggestionProblem(settings.suggestions ?? []);
  const createTextField = (name: "title" | "greeting" | "placeholder") => (
    <TextInput
      label={say(name)}
      placeholder={say(`${name}Own`)}
      maxLength={200}
      disabled={isDisabled}
      value={settings[name] ?? ""}
      onChange={(event) => onChange({ [name]: event.currentTarget.value || null })}
    />
  );
  return (
    <div className="stack g16">
      {createTextField("title")}
      {createTextField("greeting")}
      {createTextField("placeholder")}
      <Textarea
        label={say("suggestions")}
        description={say("suggestionsHint", { count: settings.suggestions?.length ?? 0 })}
        error={problem && say(problem.kind, problem)}
        autosize
        minRows={2}
        maxRows={6}
        disabled={isDisabled}
        value={suggestions}
        onChange={(event) => {
          setSuggestions(event.currentTarget.value);
          onChange({ suggestions: parseSuggestions(event.currentTarget.value) });
        }}
      />
      <Switch
        label={say("showSources")}
        description={say("showSourcesHint")}
        disabled={isDisabled}
        checked={settings.show_sources ?? true}
        onChange={(event) => onChange({ show_sources: event.currentTarget.checked })}
      />
      <ColourField
        label={say("accent")}
        value={settings.accent ?? null}
        isDisabled={isDisabled}
        onChange={(accent) => onChange({ accent })}
      />
      {settings.accent && (
        <ColourField
          label={say("onAccent")}
          value={settings.on_accent ?? null}
          isDisabled={isDisabled}
          onChange={(on_accent) => onChange({ on_accent })}
        />
      )}
      <ContrastNote settings={settings} onChange={onChange} />
      <div className="row g16 wrap top">
        <DesignChoice
          label={say("scheme")}
          names={["auto", "light", "dark"]}
          value={settings.scheme ?? "auto"}
          onChange={(scheme) => onChange({ scheme })}
        />
        <DesignChoice
          label={say("position")}
          names={["left", "right"]}
          value={settings.position ?? "right"}
          onChange={(position) => onChange({ position })}
        />
      </div>
    </div>
  );
}

type Name = "auto" | "light" | "dark" | "left" | "right";
type ChoiceProps<T extends Name> = { label: string; names: T[]; value: T; onChange: (name: T) => void };

function DesignChoice<T extends Name>({ label, names, value, onChange }: ChoiceProps<T>) {
  return (
    <div className="stack g4">
      <span className="r-label">{label}</span>
      <SegmentedControl
        aria-label={label}
        data={names.map((name) => ({ value: name as string, label: say(name) }))}
        value={value}
        onChange={(chosen) => onChange(chosen as T)}
      />
    </div>
  );
}

type ColourProps = {
  label: string;
  value: string | null;
  isDisabled: boolean;
  onChange: (colour: string | null) => void;
};

export function ColourField({ label, value, isDisabled, onChange }: ColourProps) {
  const [text, setText] = useState(value ?? "");
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value ?? "");
  }
  const changeColour = (next: string) => {
    setText(next);
    if (!next || isColour(next)) {
      setSeen(next || null);
      onChange(next || null);
    }
  };
  return (
    <TextInput
      label={label}
      placeholder={say("ownColour")}
      disabled={isDisabled}
      value={text}
      error={text && !isColour(text) ? say("notColour") : undefined}
      onChange={(event) => changeColour(event.currentTarget.value.trim())}
      rightSectionWidth={40}
      rightSection={
        <input
          type="color"
          aria-label={say("pick", { label })}
          disabled={isDisabled}
          value={isColour(text) ? text : readTokenValue("fill")}
          onChange={(event) => changeColour(event.currentTarget.value)}
        />
      }
    />
  );
}

/** Whether text on the colour can be read, and whether the button stands out; with a colour that passes. */
function ContrastNote({ settings, onChange }: { settings: Settings; onChange: (part: Partial<Settings>) => void }) {
  const { accent, on_accent: onAccent, scheme = "auto" } = settings;
  if (!accent || !isColour(accent)) return null;
  const grounds = GROUNDS[scheme].map(readTokenValue);
  const weakest = grounds.reduce((a, b) => (contrastRatio(accent, a) <= contrastRatio(accent, b) ? a : b));
  const checks = [
    {
      key: "textRatio",
      ratio: onAccent ? contrastRatio(accent, onAccent) : TEXT_LEAST,
      least: TEXT_LEAST,
      against: onAccent,
    },
    { key: "groundRatio", ratio: contrastRatio(accent, weakest), least: PART_LEAST, against: weakest },
  ] as const;
  return (
    <div className="stack g6" aria-live="polite">
      {checks
        .filter(({ against }) => against)
        .map(({ key, ratio, least, against }) => {
          const passes = ratio >= least;
          const better = passes ? accent : findNearestReadableColour(accent, against ?? weakest, least);
          return (
            <div key={key} className={`note ${passes ? "ok" : "warn"}`}>
              <span className="grow">
                {say(key, { ratio: formatDecimal(ratio, 1), least: formatDecimal(least, 0, 1) })}
              </span>
              {!passes && (
                <Button size="xs" variant="default" onClick={() => onChange({ accent: better })}>
                  {say("take", { colour: better })}
                </Button>
              )}
            </div>
          );
        })}
    </div>
  );
}
