import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { Markdown } from "../../shared/markdown/markdown";
import type { ApiDocument, ApiSchema } from "./document";
import style from "./reference.module.css";
import { findFieldSchema, formatSchemaType, listEnumValues, listLimits, listVariants } from "./schema_text";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");
const UNITS = { characters: say("characters"), entries: say("entries") };
/** Deeper than this a schema is opened by hand: it may contain itself. */
const OPEN_DEPTH = 1;

type TreeProps = { document: ApiDocument; schema: ApiSchema; isSent: boolean; depth: number };

/** The fields of a schema, or the kinds it has, each with its own. */
export function SchemaTree({ document, schema, isSent, depth }: TreeProps) {
  const variants = listVariants(document, schema);
  const fields = findFieldSchema(document, schema);
  return (
    <>
      {depth === 0 && <SchemaLine document={document} schema={schema} />}
      {fields && (
        <ul className={style.tree}>
          {Object.entries(fields.properties ?? {}).map(([name, field]) => (
            <SchemaFieldRow
              key={name}
              document={document}
              name={name}
              schema={field}
              isRequired={fields.required?.includes(name) ?? false}
              isSent={isSent}
              depth={depth}
            />
          ))}
        </ul>
      )}
      {variants.length > 0 && (
        <div className="stack g4">
          <span className="t-12 t-3">{say("oneOf")}</span>
          <ul className={style.tree}>
            {variants.map(([name, variant]) => (
              <SchemaFieldRow
                key={name}
                document={document}
                name={name}
                schema={variant}
                isRequired
                isSent={isSent}
                depth={depth + 1}
                isVariant
              />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const SchemaLine = ({ document, schema }: { document: ApiDocument; schema: ApiSchema }) => (
  <>
    <span className="mono t-12 t-2">{formatSchemaType(document, schema)}</span>
    {listLimits(schema, UNITS).map((limit) => (
      <span key={limit} className="t-12 t-3">
        {limit}
      </span>
    ))}
  </>
);

type RowProps = TreeProps & { name: string; isRequired: boolean; isVariant?: boolean };

/** One field: name, type, whether it is required, what it means, its values, and its own fields on demand. */
export function SchemaFieldRow({ document, name, schema, isRequired, isSent, depth, isVariant }: RowProps) {
  const hasFields = Boolean(findFieldSchema(document, schema)) || listVariants(document, schema).length > 0;
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && !isVariant);
  // The description of a parameter often lists its values already.
  const values = listEnumValues(document, schema).filter(
    ([value]) => !schema.description?.includes(`- \`${value.replaceAll('"', "")}\``),
  );
  const example = schema.examples?.[0];
  return (
    <li>
      <div className={style.line}>
        <code className={`mono ${style.name}`}>{name}</code>
        {!isVariant && <SchemaLine document={document} schema={schema} />}
        {!isVariant && isSent && isRequired && <span className={style.required}>{say("required")}</span>}
        {!isVariant && !isSent && !isRequired && <span className="t-12 t-3">{say("notAlways")}</span>}
        {hasFields && (
          <button
            type="button"
            className={`link ${style.fold}`}
            aria-expanded={isOpen}
            aria-label={`${say(isOpen ? "fold" : "unfold")}: ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {say(isOpen ? "fold" : "unfold")}
          </button>
        )}
      </div>
      {schema.description && (
        <div className={style.prose} lang="en">
          <Markdown>{schema.description}</Markdown>
        </div>
      )}
      {values.length > 0 && <EnumValues values={values} />}
      {example !== undefined && !hasFields && typeof example !== "object" && (
        <span className="t-12 t-3">
          {say("example")} <code className="mono">{JSON.stringify(example)}</code>
        </span>
      )}
      {hasFields && isOpen && <SchemaTree document={document} schema={schema} isSent={isSent} depth={depth + 1} />}
    </li>
  );
}

const EnumValues = ({ values }: { values: [value: string, meaning?: string][] }) => (
  <ul className={style.values} lang="en">
    {values.map(([value, meaning]) => (
      <li key={value}>
        <code className="mono t-12">{value}</code>
        {meaning && (
          <div className={style.prose}>
            <Markdown>{meaning}</Markdown>
          </div>
        )}
      </li>
    ))}
  </ul>
);
