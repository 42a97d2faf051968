import { Button, Modal, NumberInput, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { useFieldProblems } from "../../shared/use_fields";
import { HeaderFields } from "./header_fields";
import { emptyHeaderRow, headerRowsOf, headersFromRows, isIncomplete } from "./header_rows";
import { createExporter, type Exporter, type ExporterBody, updateExporter, useExporterChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/exporters");
const FIELDS = ["name", "endpoint", "headers", "sample"] as const;
const ENCODINGS = ["protobuf", "json"] as const;
type ExporterEncoding = (typeof ENCODINGS)[number];

type Props = { of?: Exporter; onClose: () => void };

/** A new receiver of traces, or changes of one. */
export function ExporterForm({ of: exporter, onClose }: Props) {
  const [name, setName] = useState(exporter?.name ?? "");
  const [endpoint, setEndpoint] = useState(exporter?.endpoint ?? "");
  const [headers, setHeaders] = useState(() => (exporter ? headerRowsOf(exporter.headers) : [emptyHeaderRow()]));
  const [encoding, setEncoding] = useState<ExporterEncoding>(exporter?.encoding ?? "protobuf");
  const [percent, setPercent] = useState<number | string>((exporter?.sample ?? 1) * 100);
  const [withContent, setWithContent] = useState(exporter?.include_content ?? false);
  const save = useExporterChange((body: ExporterBody) =>
    exporter ? updateExporter({ id: exporter.id, ...body }) : createExporter(body),
  );
  const { form, rest, problemOf } = useFieldProblems(save.error, FIELDS);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    const body: ExporterBody = {
      name: name.trim(),
      endpoint: endpoint.trim(),
      headers: headersFromRows(headers),
      encoding,
      sample: Number(percent) / 100,
      include_content: withContent,
    };
    save.mutate(body, { onSuccess: onClose });
  };
  const isReady = name.trim() && endpoint.trim() && percent !== "" && !headers.some(isIncomplete);
  return (
    <Modal
      opened
      onClose={onClose}
      title={exporter ? say("changeTitle", { name: exporter.name }) : say("add")}
      size={560}
    >
      <form className="stack g16" ref={form} onSubmit={handleSubmit}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("name")}
          error={problemOf("name")}
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={say("endpoint")}
          description={say("endpointHint")}
          error={problemOf("endpoint")}
          type="url"
          maxLength={2000}
          value={endpoint}
          onChange={(event) => setEndpoint(event.currentTarget.value)}
        />
        <HeaderFields rows={headers} problem={problemOf("headers")} onChange={setHeaders} />
        <SentPartFields
          percent={percent}
          problem={problemOf("sample")}
          encoding={encoding}
          onPercent={setPercent}
          onEncoding={setEncoding}
        />
        <Switch
          label={say("content")}
          description={say("contentHint")}
          checked={withContent}
          onChange={(event) => setWithContent(event.currentTarget.checked)}
        />
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!isReady}>
            {say(exporter ? "save" : "create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

type SentPartProps = {
  percent: number | string;
  problem?: string;
  encoding: ExporterEncoding;
  onPercent: (percent: number | string) => void;
  onEncoding: (encoding: ExporterEncoding) => void;
};

/** How many traces are sent, and in which form. */
function SentPartFields({ percent, problem, encoding, onPercent, onEncoding }: SentPartProps) {
  return (
    <div className="row g16 wrap">
      <NumberInput
        w={180}
        label={say("sample")}
        description={say("sampleHint")}
        error={problem}
        suffix=" %"
        min={0}
        max={100}
        clampBehavior="strict"
        decimalScale={2}
        value={percent}
        onChange={onPercent}
      />
      <div className="stack g6">
        <span className="t-13 t-500">{say("encoding")}</span>
        <SegmentedControl
          aria-label={say("encoding")}
          data={ENCODINGS.map((value) => ({ value, label: say(`encoding_${value}`) }))}
          value={encoding}
          onChange={(chosen) => onEncoding(chosen === "json" ? chosen : "protobuf")}
        />
      </div>
    </div>
  );
}
