import { Button, Modal, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import { readHeaderLines } from "./header_lines";
import {
  type AuditReceiver,
  changeReceiver,
  createReceiver,
  type NewAuditReceiver,
  useReceiverChange,
} from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/audit");
const STARTS = ["now", "beginning"] as const;
type Start = (typeof STARTS)[number];
const MAX_NAME_LENGTH = 100;
const MAX_URL_LENGTH = 2000;

type ReceiverFormProps = {
  receiver?: AuditReceiver;
  onMade: (made: NewAuditReceiver) => void;
  onClose: () => void;
};

/** A new receiver, or another name and address of one; headers stay with the server that they were entered for. */
export function ReceiverForm({ receiver, onMade, onClose }: ReceiverFormProps) {
  const [name, setName] = useState(receiver?.name ?? "");
  const [url, setUrl] = useState(receiver?.config.url ?? "");
  const [headerText, setHeaderText] = useState("");
  const [start, setStart] = useState<Start>("now");
  const stored = Object.keys(receiver?.config.headers ?? {});
  const { headers, broken } = readHeaderLines(headerText);
  const save = useReceiverChange(async () => {
    const wanted = { name: name.trim(), config: { url: url.trim(), headers } };
    if (!receiver) return onMade(await createReceiver({ ...wanted, type: "webhook", start, enabled: true }));
    const isSame = wanted.config.url === receiver.config.url && !headerText.trim();
    await changeReceiver({ id: receiver.id, name: wanted.name, ...(isSame ? {} : { config: wanted.config }) });
  });
  const { form, rest, problemOf } = useFieldProblems(save.error, ["name", "config.url", "config.headers"]);
  return (
    <Modal
      opened
      onClose={onClose}
      title={receiver ? say("changeReceiver", { name: receiver.name }) : say("addReceiver")}
      size={520}
    >
      <form
        ref={form}
        className="stack g16"
        onSubmit={createSubmitHandler(() => save.mutateAsync(undefined).then(onClose))}
      >
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("receiverName")}
          error={problemOf("name")}
          maxLength={MAX_NAME_LENGTH}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={say("receiverUrl")}
          description={say("receiverUrlHint")}
          error={problemOf("config.url")}
          maxLength={MAX_URL_LENGTH}
          type="url"
          spellCheck={false}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Textarea
          label={say("headers")}
          description={stored.length ? say("headersKept", { names: stored.join(", ") }) : say("headersHint")}
          error={broken ? say("headerBroken", { line: broken }) : problemOf("config.headers")}
          autosize
          minRows={2}
          maxRows={6}
          spellCheck={false}
          value={headerText}
          onChange={(event) => setHeaderText(event.currentTarget.value)}
        />
        {!receiver && <StartChoice start={start} onChange={setStart} />}
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {say("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!name.trim() || !url.trim() || Boolean(broken)}>
            {say(receiver ? "saveReceiver" : "addReceiver")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Whether a new receiver gets what was written before it. */
const StartChoice = ({ start, onChange }: { start: Start; onChange: (start: Start) => void }) => (
  <div className="stack g4">
    <span className="t-13 t-500">{say("start")}</span>
    <SegmentedControl
      aria-label={say("start")}
      data={STARTS.map((value) => ({ value, label: say(`start_${value}`) }))}
      value={start}
      onChange={(value) => onChange(STARTS.find((one) => one === value) ?? "now")}
    />
  </div>
);
