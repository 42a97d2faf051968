import { Button, SegmentedControl, Switch, Textarea, TextInput } from "@mantine/core";
import { contrast, isColour } from "@retinue/colours";
import { useState } from "react";
import { tokenValue } from "../../design/token";
import { words } from "../../shared/i18n/words";
import { decimal } from "../../shared/time";
import { nearestReadable } from "./contrast";
import type { Settings } from "./queries";
import { parseSuggestions, suggestionProblem } from "./suggestions";
import en from "./words.en.json";

const say = words(en, "features/embed");
// The widget stands on the same sheet as the console.
const GROUNDS = { light: ["sheet-light"], dark: ["sheet-dark"], auto: ["sheet-light", "sheet-dark"] };
const TEXT_LEAST = 4.5;
const PART_LEAST = 3;

type Props = { settings: Settings; onChange: (part: Partial<Settings>) => void; isDisabled: boolean };

export function Designer({ settings, onChange, isDisabled }: Props) {
  const [suggestions, setSuggestions] = useState((settings.suggestions ?? []).join("\n"));
  const problem = suggestionProblem(settings.suggestions ?? []);
  const text = (name: "title" | "greeting" | "placeholder") => (
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
      {text("title")}
      {text("greeting")}
      {text("placeholder")}
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
      <Contrast settings={settings} onChange={onChange} />
      <div className="row g16 wrap top">
        <Choice
          label={say("scheme")}
          names={["auto", "light", "dark"]}
          value={settings.scheme ?? "auto"}
          onChange={(scheme) => onChange({ scheme })}
        />
        <Choice
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

function Choice<T extends Name>({ label, names, value, onChange }: ChoiceProps<T>) {
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

function ColourField({ label, value, isDisabled, onChange }: ColourProps) {
  const [text, setText] = useState(value ?? "");
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value ?? "");
  }
  const change = (next: string) => {
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
      onChange={(event) => change(event.currentTarget.value.trim())}
      rightSectionWidth={40}
      rightSection={
        <input
          type="color"
          aria-label={say("pick", { label })}
          disabled={isDisabled}
          value={isColour(text) ? text : tokenValue("fill")}
          onChange={(event) => change(event.currentTarget.value)}
        />
      }
    />
  );
}

/** Whether text on the colour can be read, and whether the button stands out; with a colour that passes. */
function Contrast({ settings, onChange }: { settings: Settings; onChange: (part: Partial<Settings>) => void }) {
  const { accent, on_accent: onAccent, scheme = "auto" } = settings;
  if (!accent || !isColour(accent)) return null;
  const grounds = GROUNDS[scheme].map(tokenValue);
  const weakest = grounds.reduce((a, b) => (contrast(accent, a) <= contrast(accent, b) ? a : b));
  const checks = [
    {
      key: "textRatio",
      ratio: onAccent ? contrast(accent, onAccent) : TEXT_LEAST,
      least: TEXT_LEAST,
      against: onAccent,
    },
    { key: "groundRatio", ratio: contrast(accent, weakest), least: PART_LEAST, against: weakest },
  ] as const;
  return (
    <div className="stack g6" aria-live="polite">
      {checks
        .filter(({ against }) => against)
        .map(({ key, ratio, least, against }) => {
          const passes = ratio >= least;
          const better = passes ? accent : nearestReadable(accent, against ?? weakest, least);
          return (
            <div key={key} className={`note ${passes ? "ok" : "warn"}`}>
              <span className="grow">{say(key, { ratio: decimal(ratio, 1), least: decimal(least, 0, 1) })}</span>
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
