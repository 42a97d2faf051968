import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { Markdown } from "../../shared/markdown/markdown";
import { CopyableId } from "../../shared/marks/copyable_id";
import { StatusPill } from "../../shared/marks/status";
import { FactRow, SheetSection } from "../../shared/patterns/sheet";
import type { ApiAnswer, ApiContent, ApiOperation, Reference } from "./document";
import { MethodLabel } from "./method_label";
import { OperationCall } from "./operation_call";
import style from "./reference.module.css";
import { listEditableParameters, startRequestDraft } from "./request_draft";
import { nameRequirement } from "./requirement";
import { SchemaFieldRow, SchemaTree } from "./schema_tree";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");
const PLACES = ["path", "query", "header"] as const;

type OperationProps = { reference: Reference; operation: ApiOperation };

/** One operation: how it is called, what it takes, what it answers and what it refuses. */
export function OperationPage({ reference, operation }: OperationProps) {
  const [draft, setDraft] = useState(() => startRequestDraft(reference, operation));
  return (
    <div className={style.page}>
      <div className="stack g12">
        <div className={`row g8 ${style.address}`}>
          <MethodLabel method={operation.method} />
          <code className="mono">{operation.path}</code>
        </div>
        <div className={style.prose} lang="en">
          <Markdown>{operation.description}</Markdown>
        </div>
        <FactRow
          facts={[
            [say("requires"), nameRequirement(operation.requires)],
            [say("cost"), say("costUnits", { count: operation.costUnits })],
            [say("operation"), <CopyableId key="id">{operation.id}</CopyableId>],
          ]}
        />
      </div>
      <OperationCall reference={reference} operation={operation} draft={draft} onChange={setDraft} />
      <ParameterSections reference={reference} operation={operation} />
      {operation.body && (
        <SheetSection title={say("body")} note={operation.body.required ? undefined : say("optional")}>
          {operation.body.description && <p className="t-13 t-2">{operation.body.description}</p>}
          <ContentSchemas reference={reference} content={operation.body.content} isSent />
        </SheetSection>
      )}
      <AnswerSections reference={reference} operation={operation} />
    </div>
  );
}

function ParameterSections({ reference, operation }: OperationProps) {
  const parameters = listEditableParameters(operation);
  return PLACES.map((place) => {
    const found = parameters.filter((one) => one.in === place);
    if (!found.length) return null;
    return (
      <SheetSection key={place} title={say(`in_${place}`)}>
        <ul className={style.tree}>
          {found.map((one) => (
            <SchemaFieldRow
              key={one.name}
              document={reference.document}
              name={one.name}
              schema={{ ...one.schema, description: one.description ?? one.schema.description }}
              isRequired={Boolean(one.required)}
              isSent
              depth={0}
            />
          ))}
        </ul>
      </SheetSection>
    );
  });
}

const ContentSchemas = ({
  reference,
  content,
  isSent,
}: {
  reference: Reference;
  content: ApiContent;
  isSent: boolean;
}) =>
  Object.entries(content).map(([type, { schema }]) => (
    <div key={type} className="stack g6">
      <span className="mono t-12 t-3">{type === "*/*" ? say("anyFile") : type}</span>
      {schema && <SchemaTree document={reference.document} schema={schema} isSent={isSent} depth={0} />}
    </div>
  ));

const StatusCode = ({ status }: { status: number }) => (
  <StatusPill tone={status < 300 ? "ok" : status < 400 ? undefined : "warn"}>
    <span className="mono num">{status}</span>
  </StatusPill>
);

function AnswerSections({ reference, operation }: OperationProps) {
  const answers = operation.answers.filter(([status]) => status < 400);
  const refusals = operation.answers.filter(([status]) => status >= 400);
  return (
    <>
      {answers.map(([status, answer]) => (
        <SheetSection
          key={status}
          title={
            <>
              {say("answer")} <StatusCode status={status} />
            </>
          }
        >
          {answer.content ? (
            <ContentSchemas reference={reference} content={answer.content} isSent={false} />
          ) : (
            <p className="t-13 t-2">{answer.description}</p>
          )}
        </SheetSection>
      ))}
      <SheetSection title={say("errors")}>
        <ul className={style.refusals} lang="en">
          {refusals.map(([status, answer]) => (
            <Refusal key={status} status={status} answer={answer} />
          ))}
        </ul>
      </SheetSection>
    </>
  );
}

const Refusal = ({ status, answer }: { status: number; answer: ApiAnswer }) => (
  <li>
    <StatusCode status={status} />
    <div className={`grow ${style.prose}`}>
      <Markdown>{answer.description}</Markdown>
    </div>
  </li>
);
