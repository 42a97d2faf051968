import { Button, JsonInput, Modal, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import { HeaderLines } from "./header_lines";
import { parseHeaderLines, writeHeaderLines } from "./header_text";
import {
  createWebhook,
  type EventConditions,
  eventNamesQuery,
  type OutgoingWebhook,
  updateWebhook,
  useWebhookChange,
  type WebhookSecret,
  webhookNameOf,
} from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
const FIELDS = ["url", "events", "description", "headers", "filters"] as const;

function parseConditions(text: string): EventConditions | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? (value as EventConditions) : undefined;
  } catch {
    return undefined;
  }
}

const writeConditions = (filters: EventConditions = {}) =>
  Object.keys(filters).length ? JSON.stringify(filters, null, 2) : "";

type Props = { of?: OutgoingWebhook; onMade?: (secret: WebhookSecret) => void; onClose: () => void };

/** A new receiver of events, or changes of one. */
export function WebhookForm({ of: webhook, onMade, onClose }: Props) {
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [events, setEvents] = useState(webhook?.events ?? []);
  const [headers, setHeaders] = useState(writeHeaderLines(webhook?.headers ?? {}));
  const [filters, setFilters] = useState(writeConditions(webhook?.filters));
  const conditions = parseConditions(filters);
  const named = parseHeaderLines(headers);
  const save = useWebhookChange(async () => {
    const body = {
      url: url.trim(),
      events,
      description: description.trim() || null,
      headers: named ?? {},
      filters: conditions ?? {},
    };
    if (webhook) await updateWebhook({ id: webhook.id, ...body });
    else {
      const made = await createWebhook(body);
      onMade?.({ secret: made.secret, webhook: { id: made.id, name: webhookNameOf(made) } });
    }
  });
  const { form, rest, problemOf } = useFieldProblems(save.error, FIELDS);
  const handleSubmit = createSubmitHandler(() => save.mutateAsync(undefined).then(onClose));
  const title = webhook ? say("changeTitle", { name: webhookNameOf(webhook) }) : say("add");
  const isReady = Boolean(url.trim()) && events.length > 0 && conditions && named;
  return (
    <Modal opened onClose={() => save.isPending || onClose()} title={title} size={560}>
      <form className="stack g16" ref={form} onSubmit={handleSubmit}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("address")}
          description={say("addressHint")}
          type="url"
          maxLength={2048}
          data-autofocus
          error={problemOf("url")}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <EventNames value={events} problem={problemOf("events")} onChange={setEvents} />
        <TextInput
          label={say("description")}
          description={say("descriptionHint")}
          maxLength={500}
          error={problemOf("description")}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <JsonInput
          label={say("conditions")}
          description={say("conditionsHint")}
          autosize
          minRows={2}
          maxRows={10}
          formatOnBlur
          error={problemOf("filters") ?? (conditions ? undefined : say("notAnObject"))}
          value={filters}
          onChange={setFilters}
        />
        <HeaderLines value={headers} problem={problemOf("headers")} isWrong={!named} onChange={setHeaders} />
        <div className="row g8 wrap">
          <Button variant="default" className="push" disabled={save.isPending} onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!isReady}>
            {say(webhook ? "save" : "create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

type EventNamesProps = { value: string[]; problem?: string; onChange: (names: string[]) => void };

/** Names from the catalogue, patterns above them, and names of one's own. */
function EventNames({ value, problem, onChange }: EventNamesProps) {
  const mayRead = usePermissionCheck()("events:read");
  const known = useQuery({ ...eventNamesQuery, enabled: mayRead });
  const names = known.data?.map(({ name }) => name) ?? [];
  const patterns = [...new Set(names.map((name) => `${name.split(".")[0]}.*`))];
  return (
    <TagsInput
      label={say("events")}
      description={say("eventsHint")}
      error={problem}
      data={["*", ...patterns, ...names]}
      maxTags={100}
      limit={200}
      maxDropdownHeight={240}
      comboboxProps={{ withinPortal: true }}
      splitChars={[",", " "]}
      value={value}
      onChange={onChange}
    />
  );
}
