import Copy from "icon:copy";
import { ActionIcon } from "@mantine/core";
import { general } from "../i18n/general";
import style from "./secrets.module.css";

/** What the server shows in place of a secret; sent back, it leaves the stored one as it is. */
export const SECRET_MASK = "••••••••";

const textOf = (secret: unknown) => (typeof secret === "string" ? secret : JSON.stringify(secret));

type SecretLineProps = { name: string; masked?: string; clear?: unknown };

/** One secret of a list: masked, or in clear while it is revealed. */
export const SecretLine = ({ name, masked, clear }: SecretLineProps) => (
  <li className={style.secret}>
    <span className="mono t-12 t-2">{name}</span>
    {clear === undefined ? (
      <code className="mono t-3">{masked || SECRET_MASK}</code>
    ) : (
      <>
        <code className={`mono ${style.plain}`}>{textOf(clear)}</code>
        <ActionIcon
          aria-label={general("copy", { text: name })}
          onClick={() => void navigator.clipboard?.writeText(textOf(clear))}
        >
          <Copy size={14} />
        </ActionIcon>
      </>
    )}
  </li>
);
