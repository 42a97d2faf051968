import Plus from "icon:plus";
import X from "icon:x";
import { ActionIcon, Button, TextInput } from "@mantine/core";
import { createTranslator } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import style from "./exporters.module.css";
import { emptyHeaderRow, type HeaderRow } from "./header_rows";
import en from "./words.en.json";

const say = createTranslator(en, "features/exporters");
const MAX_HEADERS = 20;

type Props = { rows: readonly HeaderRow[]; problem?: string; onChange: (rows: HeaderRow[]) => void };

/** Headers that the receiver wants, such as its key. A stored value stays unless another one is entered. */
export function HeaderFields({ rows, problem, onChange }: Props) {
  const change = (key: number, part: Partial<HeaderRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  return (
    <fieldset className={`stack g8 ${style.headers}`}>
      <legend className="t-13 t-500">{say("headers")}</legend>
      <span className="t-12 t-2">{say("headersHint")}</span>
      {rows.map((row, at) => (
        <div key={row.key} className="row g8">
          <TextInput
            size="xs"
            className={style.headerName}
            aria-label={say("headerName", { number: at + 1 })}
            placeholder={say("nameOfHeader")}
            value={row.name}
            // The stored value belongs to the stored name.
            onChange={(event) => change(row.key, { name: event.currentTarget.value, mask: undefined })}
          />
          <SecretInput
            size="xs"
            className="grow"
            autoComplete="off"
            aria-label={say("headerValue", { number: at + 1 })}
            placeholder={row.mask ? say("valueKept") : say("value")}
            value={row.value}
            onChange={(event) => change(row.key, { value: event.currentTarget.value })}
          />
          <ActionIcon
            aria-label={say("removeHeader", { number: at + 1 })}
            onClick={() => onChange(rows.filter((other) => other.key !== row.key))}
          >
            <X size={14} />
          </ActionIcon>
        </div>
      ))}
      {problem && (
        <span className={`t-12 ${style.problem}`} role="alert">
          {problem}
        </span>
      )}
      {rows.length < MAX_HEADERS && (
        <Button
          size="xs"
          variant="default"
          className={style.addHeader}
          leftSection={<Plus size={13} />}
          onClick={() => onChange([...rows, emptyHeaderRow()])}
        >
          {say("addHeader")}
        </Button>
      )}
    </fieldset>
  );
}
