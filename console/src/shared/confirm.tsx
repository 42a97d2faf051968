import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { general } from "./i18n/general";
import { RefusalNote } from "./patterns/refusal_note";

type Props = {
  title: string;
  /** What it means for whom. */
  children: ReactNode;
  /** The verb, as it stands on the button that led here. */
  action: string;
  error?: Error | null;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before something locks people or programs out, or cannot be taken back. */
export function ConfirmDialog({ title, children, action, error, isBusy, onConfirm, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title={title} size={440}>
      <div className="stack g16">
        <RefusalNote error={error} />
        <div className="t-2 stack g8">{children}</div>
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose} data-autofocus>
            {general("cancel")}
          </Button>
          <Button color="red" loading={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
