import { Button, Modal } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { asApiError } from "../../api/errors";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { SecretInput } from "../../shared/secret_input";
import { RoleChangeList } from "./change_summary";
import type { RoleChange } from "./matrix";
import { useRoleSaving } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/roles");

type SaveRolesDialogProps = { changes: RoleChange[]; onSaved: () => void; onClose: () => void };

/** The difference once more, and the password if the server asks who it is. */
export function SaveRolesDialog({ changes, onSaved, onClose }: SaveRolesDialogProps) {
  const [password, setPassword] = useState("");
  const [isPasswordNeeded, setPasswordNeeded] = useState(false);
  const save = useRoleSaving(onSaved);
  const error = save.error && asApiError(save.error);
  const isAsked = error?.reasonText === "step_up_required";
  const saveChanges = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(
      { changes, password },
      {
        onError: (error) => {
          if (asApiError(error).reasonText === "step_up_required") setPasswordNeeded(true);
        },
      },
    );
  };
  return (
    <Modal opened onClose={() => save.isPending || onClose()} title={say("reviewTitle")} size={520}>
      <form className="stack g16" onSubmit={saveChanges}>
        {!isAsked && <ProblemNote>{error?.message}</ProblemNote>}
        <RoleChangeList changes={changes} />
        <p className="t-13 t-2">{say("atOnce")}</p>
        {isPasswordNeeded && (
          <SecretInput
            label={say("password")}
            description={say("passwordHint")}
            error={isAsked && save.variables?.password ? say("passwordWrong") : undefined}
            autoComplete="current-password"
            data-autofocus
            visibilityToggleButtonProps={{ "aria-label": say("showPassword") }}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        <div className="row g8">
          <Button variant="default" className="push" disabled={save.isPending} onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={isPasswordNeeded && !password}>
            {say("save")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
