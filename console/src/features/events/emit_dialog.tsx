import { Autocomplete, Button, JsonInput, Modal } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { createSubmitHandler } from "../../shared/submit_handler";
import { showToast } from "../../shared/toast/toasts";
import { useFieldProblems } from "../../shared/use_fields";
import { parseJsonObject } from "./json_object";
import { emitTestEvent, eventKindsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/events");

/** Emits an event that is marked as a test, and to which everything that listens responds for real. */
export function EmitEventDialog({ onClose }: { onClose: () => void }) {
  const kinds = useQuery(eventKindsQuery);
  const [type, setType] = useState("");
  const [data, setData] = useState("{}");
  const emit = useMutation({ mutationFn: emitTestEvent });
  const { form, rest, problemOf } = useFieldProblems(emit.error, ["event_type", "data"]);
  const parsed = parseJsonObject(data);
  const chooseType = (name: string) => {
    setType(name);
    const known = kinds.data?.find((kind) => kind.name === name);
    if (known) setData(JSON.stringify(known.example, null, 2));
  };
  const handleSubmit = createSubmitHandler(async () => {
    const { matched } = await emit.mutateAsync({ event_type: type.trim(), data: parsed ?? {} });
    showToast(say("emitted", { count: matched.webhooks + matched.subscriptions }));
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={say("emit")} size={520}>
      <form className="stack g16" ref={form} onSubmit={handleSubmit}>
        <ProblemNote>{rest}</ProblemNote>
        <p className="t-13 t-2">{say("emitText")}</p>
        <Autocomplete
          label={say("type")}
          data-autofocus
          maxLength={200}
          maxDropdownHeight={240}
          data={kinds.data?.map(({ name }) => name) ?? []}
          error={problemOf("event_type")}
          value={type}
          onChange={chooseType}
        />
        <JsonInput
          label={say("data")}
          autosize
          minRows={4}
          maxRows={14}
          error={problemOf("data") ?? (parsed ? undefined : say("notAnObject"))}
          value={data}
          onChange={setData}
        />
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={emit.isPending} disabled={!type.trim() || !parsed}>
            {say("emitNow")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
