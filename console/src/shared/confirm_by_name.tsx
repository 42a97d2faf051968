import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { general } from "./i18n/general";
import { ProblemNote } from "./patterns/refusal_note";
import { createSubmitHandler } from "./submit_handler";

type Props = {
  title: string;
  /** What breaks. */
  children: ReactNode;
  /** What has to be typed, and the label of the field for it. */
  name: string;
  label: string;
  action: string;
  /** Why the server refused. */
  problem?: string;
  isBusy: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks for the name of what is deleted, because that cannot be undone; closes once it is deleted. */
export function ConfirmByNameDialog({
  title,
  children,
  name,
  label,
  action,
  problem,
  isBusy,
  onConfirm,
  onClose,
}: Props) {
  const [typed, setTyped] = useState("");
  return (
    <Modal opened onClose={onClose} title={title} size={440}>
      <form className="stack g16" onSubmit={createSubmitHandler(() => onConfirm().then(onClose))}>
        <ProblemNote>{problem}</ProblemNote>
        <p className="t-2">{children}</p>
        <TextInput
          label={label}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" color="red" loading={isBusy} disabled={typed !== name}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
