import { Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { isSetupOpen, leaveExpiredSession } from "../../api/session";
import { createTranslator } from "../../shared/i18n/words";
import { GatePage } from "./gate";
import { useSignInForm } from "./sign_in_form";
import { findPathInside, isHostedPage, leaveForHostedPage } from "./way_back";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");

export default function SignInPage() {
  const navigate = useNavigate();
  const { to } = useSearch({ strict: false }) as { to?: string };
  const { data: isNew } = useQuery({ queryKey: ["auth", "setup"], queryFn: isSetupOpen });
  const form = useSignInForm(() => {
    if (isHostedPage(to)) leaveForHostedPage(to);
    else void navigate({ to: findPathInside(to), replace: true });
  });
  if (form.isSecond)
    return (
      <GatePage
        title={say("mfaTitle")}
        text={say(form.usesRecovery ? "recoveryText" : "mfaText")}
        onSubmit={form.submit}
      >
        {form.fields}
      </GatePage>
    );
  const host = <b className="t-500">{location.host}</b>;
  return (
    <GatePage
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
    </GatePage>
  );
}

/** Over the page when the session has ended: nothing that was typed is lost. */
export function SignInDialog() {
  const form = useSignInForm(() => undefined);
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
