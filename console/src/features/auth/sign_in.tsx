import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { isSetupOpen, leaveExpiredSession } from "../../api/session";
import { words } from "../../shared/i18n/words";
import { Gate } from "./gate";
import { useSignIn } from "./sign_in_form";
import en from "./words.en.json";

const say = words(en, "features/auth");

export default function SignIn() {
  const navigate = useNavigate();
  const { to } = useSearch({ strict: false }) as { to?: string };
  const { data: isNew } = useQuery({ queryKey: ["auth", "setup"], queryFn: isSetupOpen });
  const form = useSignIn(
    () => void navigate({ to: to?.startsWith("/") && !to.startsWith("//") ? to : "/", replace: true }),
  );
  if (form.isSecond)
    return (
      <Gate title={say("mfaTitle")} text={say(form.usesRecovery ? "recoveryText" : "mfaText")} onSubmit={form.submit}>
        {form.fields}
      </Gate>
    );
  const host = <b className="t-500">{location.host}</b>;
  return (
    <Gate
      title={say("welcome")}
      text={
        <>
          {say("signInTo")} {host}
        </>
      }
      onSubmit={form.submit}
    >
      {form.fields}
      <p className="t-13 t-2">{say(isNew ? "firstRun" : "invite")}</p>
    </Gate>
  );
}

/** Over the page when the session has ended: nothing that was typed is lost. */
export function SignInDialog() {
  const form = useSignIn(() => undefined);
  return (
    <Modal opened onClose={leaveExpiredSession} title={say("expiredTitle")} closeOnClickOutside={false} size={420}>
      <form
        className="stack g16"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <p className="t-2">{say("expiredText")}</p>
        {form.fields}
      </form>
    </Modal>
  );
}
