import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmDialog } from "../../shared/confirm";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import {
  approveUser,
  deactivateUser,
  deleteUser,
  reactivateUser,
  resetSecondFactor,
  type User,
  usePeopleChange,
} from "./queries";
import { ResetLinkDialog } from "./reset_link";
import { fullNameOf } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** What helps somebody who cannot sign in; one's own password and second factor stand in the profile. */
export function UserActions({ user }: { user: User }) {
  const [dialog, setDialog] = useState<"link" | "factor">();
  const mayReset = user.mfa_enabled;
  const mayLink = user.status === "active";
  if (!mayReset && !mayLink) return null;
  const closeDialog = () => setDialog(undefined);
  return (
    <>
      <ActionsMenu label={say("more", { name: fullNameOf(user) })}>
        {mayLink && <Menu.Item onClick={() => setDialog("link")}>{say("resetLink")}</Menu.Item>}
        {mayReset && <Menu.Item onClick={() => setDialog("factor")}>{say("resetFactor")}</Menu.Item>}
      </ActionsMenu>
      {dialog === "link" && <ResetLinkDialog user={user} onClose={closeDialog} />}
      {dialog === "factor" && <ResetFactorDialog user={user} onClose={closeDialog} />}
    </>
  );
}

function ResetFactorDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const reset = usePeopleChange(resetSecondFactor);
  const name = fullNameOf(user);
  const resetFactor = () =>
    reset.mutate(user.id, {
      onSuccess: () => {
        showToast(say("factorReset", { name }));
        onClose();
      },
    });
  return (
    <ConfirmDialog
      title={say("resetFactorTitle", { name })}
      action={say("resetFactor")}
      error={reset.error}
      isBusy={reset.isPending}
      onConfirm={resetFactor}
      onClose={onClose}
    >
      <p>{say("resetFactorText")}</p>
    </ConfirmDialog>
  );
}

/** Let in, keep out, or delete. */
export function UserFoot({ user, onGone }: { user: User; onGone: () => void }) {
  const [dialog, setDialog] = useState<"deactivate" | "delete">();
  const admit = usePeopleChange<string, unknown>(user.is_pending ? approveUser : reactivateUser);
  const isOut = user.status === "inactive";
  const closeDialog = () => setDialog(undefined);
  return (
    <>
      {isOut || user.is_pending ? (
        <Button size="xs" variant="default" loading={admit.isPending} onClick={() => admit.mutate(user.id)}>
          {say(user.is_pending ? "approve" : "reactivate")}
        </Button>
      ) : (
        <Button size="xs" variant="default" onClick={() => setDialog("deactivate")}>
          {say("deactivate")}
        </Button>
      )}
      <Button size="xs" variant="default" color="red" onClick={() => setDialog("delete")}>
        {say("delete")}
      </Button>
      {admit.error && (
        <span className="t-12" role="alert">
          {asApiError(admit.error).message}
        </span>
      )}
      {dialog === "deactivate" && <DeactivateDialog user={user} onClose={closeDialog} />}
      {dialog === "delete" && <DeleteUserDialog user={user} onClose={closeDialog} onGone={onGone} />}
    </>
  );
}

function DeactivateDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const deactivate = usePeopleChange(deactivateUser);
  return (
    <ConfirmDialog
      title={say("deactivateTitle", { name: fullNameOf(user) })}
      action={say("deactivate")}
      error={deactivate.error}
      isBusy={deactivate.isPending}
      onConfirm={() => deactivate.mutate(user.id, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{say("deactivateText")}</p>
    </ConfirmDialog>
  );
}

function DeleteUserDialog({ user, onClose, onGone }: { user: User; onClose: () => void; onGone: () => void }) {
  const remove = usePeopleChange(deleteUser);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: fullNameOf(user) })}
      name={user.email}
      label={say("typeEmail", { email: user.email })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutateAsync(user.id).then(onGone)}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
