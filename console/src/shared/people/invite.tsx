import { Popover } from "@mantine/core";
import { lazy, type ReactElement, Suspense } from "react";
import { createTranslator } from "../i18n/words";
import { closesByEscape } from "../popover_escape";
import style from "./invite.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/people");
/** Pages open without the fields of the form. */
const InviteForm = lazy(() => import("./invite_form").then((found) => ({ default: found.InviteForm })));

type Props = { isOpen: boolean; onChange: (isOpen: boolean) => void; children: ReactElement };

/** Invites people. `children` is the button that opens it. */
export function InvitePopover({ isOpen, onChange, children }: Props) {
  const closing = closesByEscape(() => onChange(false));
  return (
    <Popover
      {...closing.popover}
      opened={isOpen}
      onChange={onChange}
      trapFocus
      returnFocus
      position="bottom-end"
      width={360}
      shadow="md"
    >
      <Popover.Target>{children}</Popover.Target>
      <Popover.Dropdown {...closing.dropdown} className={style.invite} aria-label={say("inviteTitle")}>
        <Suspense fallback={null}>
          <InviteForm onDone={() => onChange(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
