import { Popover } from "@mantine/core";
import { lazy, type ReactElement, Suspense } from "react";
import { words } from "../../shared/i18n/words";
import style from "./home.module.css";
import en from "./words.en.json";

const say = words(en, "features/home");
/** Home opens without the fields of the form. */
const InviteForm = lazy(() => import("./invite_form").then((found) => ({ default: found.InviteForm })));

type Props = { isOpen: boolean; onChange: (isOpen: boolean) => void; children: ReactElement };

/** Invites people until the console has a screen for them. `children` is the button that opens it. */
export function InvitePopover({ isOpen, onChange, children }: Props) {
  return (
    <Popover opened={isOpen} onChange={onChange} trapFocus returnFocus position="bottom-end" width={340} shadow="md">
      <Popover.Target>{children}</Popover.Target>
      <Popover.Dropdown className={style.invite} aria-label={say("inviteTitle")}>
        <Suspense fallback={null}>
          <InviteForm onDone={() => onChange(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
