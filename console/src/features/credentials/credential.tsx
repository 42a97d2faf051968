import Check from "icon:check";
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { StatusPill } from "../../shared/marks/status";
import { Note } from "../../shared/patterns/note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatDay } from "../../shared/time";
import { AccessRules } from "./access_rules";
import style from "./credential.module.css";
import { CredentialHistory } from "./credential_history";
import { CredentialState, daysUntilExpiry } from "./credential_state";
import { CredentialUsers } from "./credential_users";
import { type Credential, credentialQuery, deleteCredential, testCredential, useCredentialChange } from "./queries";
import { SecretsCard } from "./secrets_card";
import en from "./words.en.json";

const say = createTranslator(en, "features/credentials");
const ChangeDialog = lazy(() => import("./change_dialog").then((found) => ({ default: found.ChangeDialog })));
const RotateDialog = lazy(() => import("./rotate_dialog").then((found) => ({ default: found.RotateDialog })));
type Dialog = "rotate" | "change" | "delete";

/** One credential: its secrets, where they may be sent, who may use them and what was done with them. */
export default function CredentialPage() {
  const { credentialId } = useParams({ from: "/frame/credentials/$credentialId" });
  const { data: credential, error, refetch } = useQuery(credentialQuery(credentialId));
  const mayWrite = usePermissionCheck()("credentials:write");
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <>
      <PageBar
        trail={[{ label: say("title"), to: "/credentials" }]}
        title={credential?.name ?? (error ? credentialId : "…")}
        isThere={Boolean(credential)}
        after={
          credential && (
            <>
              <StatusPill>{say(credential.type)}</StatusPill>
              <span className="wide">
                <CredentialState credential={credential} />
              </span>
            </>
          )
        }
      >
        {credential && mayWrite && <Actions credential={credential} onDialog={setDialog} />}
      </PageBar>
      {error && <FailureState error={error} onRetry={() => void refetch()} />}
      {!error && !credential && <RowSkeletons columns={[120, 300]} />}
      {credential && (
        <Sheet>
          <Problem credential={credential} onRotate={mayWrite ? () => setDialog("rotate") : undefined} />
          <div className={style.two}>
            <div className={style.column}>
              <SecretsCard credential={credential} />
              <Destinations credential={credential} />
              <AccessRules credentialId={credential.id} />
            </div>
            <div className={style.column}>
              <CredentialUsers credentialId={credential.id} />
              <CredentialHistory credentialId={credential.id} />
              <CopyableId>{credential.id}</CopyableId>
            </div>
          </div>
        </Sheet>
      )}
      <Suspense fallback={null}>
        {credential && dialog === "rotate" && <RotateDialog credential={credential} onClose={close} />}
        {credential && dialog === "change" && <ChangeDialog credential={credential} onClose={close} />}
      </Suspense>
      {credential && dialog === "delete" && <DeleteDialog credential={credential} onClose={close} />}
    </>
  );
}

function Actions({ credential, onDialog }: { credential: Credential; onDialog: (dialog: Dialog) => void }) {
  const test = useCredentialChange(testCredential);
  return (
    <>
      {test.data && !test.isPending && (
        <span className={`t-12 wide ${test.data.success ? "t-2" : "t-bad"}`} role="status">
          {test.data.message}
        </span>
      )}
      {test.error && (
        <span className="t-12 t-bad wide" role="alert">
          {asApiError(test.error).message}
        </span>
      )}
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate(credential.id)}>
        {say("test")}
      </Button>
      <Button onClick={() => onDialog("rotate")}>{say("rotate")}</Button>
      <ActionsMenu label={say("more")}>
        <Menu.Item onClick={() => onDialog("change")}>{say("change")}</Menu.Item>
        <Menu.Item color="red" onClick={() => onDialog("delete")}>
          {say("delete")}
        </Menu.Item>
      </ActionsMenu>
    </>
  );
}

/** What stops soon or has stopped, and the way out. */
function Problem({ credential, onRotate }: { credential: Credential; onRotate?: () => void }) {
  const days = daysUntilExpiry(credential.expires_at);
  const isExpired = days !== undefined && days <= 0;
  if (credential.is_valid && days === undefined) return null;
  const action = onRotate && (
    <Button size="compact-xs" variant="default" onClick={onRotate}>
      {say("rotate")}
    </Button>
  );
  return (
    <Note tone={credential.is_valid && !isExpired ? "warn" : "bad"} action={action}>
      {days !== undefined && credential.expires_at
        ? say(isExpired ? "expiredNote" : "expiresNote", { day: formatDay(credential.expires_at) })
        : say("refusedNote")}
    </Note>
  );
}

const Destinations = ({ credential }: { credential: Credential }) => (
  <SheetSection title={say("destinations")} note={say("destinationsHint")}>
    <div className="card">
      {credential.destinations.map((destination) => (
        <div key={destination} className={style.line}>
          <Check size={14} className={style.okay} />
          <span className="mono t-12 grow">{destination}</span>
        </div>
      ))}
      {credential.destinations.length === 0 && <div className={style.foot}>{say("noDestinations")}</div>}
    </div>
  </SheetSection>
);

function DeleteDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useCredentialChange(deleteCredential);
  const refusal = remove.error ? asApiError(remove.error) : undefined;
  const isUsed = refusal?.code === "credential_in_use";
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: credential.name })}
      name={credential.name}
      label={say("typeName", { name: credential.name })}
      action={say(isUsed ? "deleteAnyway" : "delete")}
      problem={isUsed ? say("deleteUsed") : refusal?.message}
      isBusy={remove.isPending}
      onConfirm={async () => {
        await remove.mutateAsync({ id: credential.id, force: isUsed });
        await navigate({ to: "/credentials", replace: true });
      }}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
