import Plus from "icon:plus";
import X from "icon:x";
import { ActionIcon, Button, Checkbox, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../../shared/i18n/words";
import type { JsonValues } from "../queries";
import en from "../words.en.json";
import style from "./define.module.css";
import { JsonField } from "./json_field";

const say = createTranslator(en, "features/tools");
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const INPUT_EXAMPLE = '{ "type": "object", "properties": { "order": { "type": "string" } }, "required": ["order"] }';
type Endpoints = Record<string, JsonValues>;
type Props = {
  endpoints: Endpoints;
  onChange: (endpoints: Endpoints) => void;
  onValidity: (name: string, isValid: boolean) => void;
};

/** A name that no endpoint has yet. */
function newEndpointName(endpoints: Endpoints): string {
  let number = Object.keys(endpoints).length + 1;
  while (`request_${number}` in endpoints) number += 1;
  return `request_${number}`;
}

/** The requests of a REST API: what each calls, what it is for, what it takes, and whether it asks first. */
export function EndpointRows({ endpoints, onChange, onValidity }: Props) {
  const entries = Object.entries(endpoints);
  // Rows of requests that are removed would leave their fields to the next one.
  const [removals, setRemovals] = useState(0);
  const replaceEntry = (at: number, name: string, endpoint: JsonValues) => {
    const isTaken = name !== entries[at]?.[0] && name in endpoints;
    if (!isTaken)
      onChange(Object.fromEntries(entries.map((entry, place) => (place === at ? [name, endpoint] : entry))));
  };
  const removeEntry = (at: number) => {
    setRemovals(removals + 1);
    for (const place of entries.keys()) onValidity(`endpoints.${place}`, true);
    onChange(Object.fromEntries(entries.filter((_, place) => place !== at)));
  };
  return (
    <div className="stack g8">
      <ul className={`card ${style.rows}`} aria-label={say("endpoints")}>
        {entries.map(([name, endpoint], at) => (
          // A name is typed here, so a row is known by its place.
          <li key={`${removals}-${at}`} className={style.row}>
            <EndpointRow
              name={name}
              endpoint={endpoint}
              onChange={(next, nextName = name) => replaceEntry(at, nextName, next)}
              onValidity={(isValid) => onValidity(`endpoints.${at}`, isValid)}
              onRemove={() => removeEntry(at)}
            />
          </li>
        ))}
      </ul>
      <Button
        size="xs"
        variant="subtle"
        className={style.start}
        leftSection={<Plus size={14} />}
        onClick={() => onChange({ ...endpoints, [newEndpointName(endpoints)]: { method: "GET", path: "/" } })}
      >
        {say("addEndpoint")}
      </Button>
    </div>
  );
}

type RowProps = {
  name: string;
  endpoint: JsonValues;
  onChange: (endpoint: JsonValues, name?: string) => void;
  onValidity: (isValid: boolean) => void;
  onRemove: () => void;
};

function EndpointRow({ name, endpoint, onChange, onValidity, onRemove }: RowProps) {
  const [isInputShown, setInputShown] = useState(false);
  const setField = (field: string, value: unknown) => {
    const { [field]: _, ...others } = endpoint;
    onChange(value === undefined ? others : { ...others, [field]: value });
  };
  return (
    <>
      <Select
        size="xs"
        className={style.method}
        aria-label={say("methodOf", { name })}
        allowDeselect={false}
        data={METHODS}
        value={String(endpoint.method ?? "GET").toUpperCase()}
        onChange={(method) => onChange({ ...endpoint, method })}
      />
      <TextInput
        size="xs"
        aria-label={say("nameOf", { name })}
        classNames={{ input: "mono" }}
        value={name}
        onChange={(event) => onChange(endpoint, event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        className={style.path}
        classNames={{ input: "mono" }}
        aria-label={say("pathOf", { name })}
        value={String(endpoint.path ?? "")}
        onChange={(event) => onChange({ ...endpoint, path: event.currentTarget.value })}
      />
      <ActionIcon size={24} aria-label={say("removeNamed", { name })} onClick={onRemove}>
        <X size={13} />
      </ActionIcon>
      <div className={style.second}>
        <TextInput
          size="xs"
          className={style.purpose}
          aria-label={say("purposeOf", { name })}
          placeholder={say("purpose")}
          value={String(endpoint.description ?? "")}
          onChange={(event) => setField("description", event.currentTarget.value || undefined)}
        />
        <Button
          size="xs"
          variant={endpoint.input_schema ? "default" : "subtle"}
          aria-label={say("inputOf", { name })}
          aria-expanded={isInputShown}
          onClick={() => setInputShown(!isInputShown)}
        >
          {say("input")}
        </Button>
        <Checkbox
          label={say("asksFirst")}
          aria-label={say("asksFirstOf", { name })}
          checked={endpoint.requires_approval === true}
          onChange={(event) => setField("requires_approval", event.currentTarget.checked || undefined)}
        />
      </div>
      {/* Hidden, not gone: what is half typed stays. */}
      <div className={style.whole} hidden={!isInputShown}>
        <JsonField
          aria-label={say("inputSchemaOf", { name })}
          placeholder={INPUT_EXAMPLE}
          value={endpoint.input_schema}
          onChange={(schema) => setField("input_schema", schema)}
          onValidity={onValidity}
        />
      </div>
    </>
  );
}
