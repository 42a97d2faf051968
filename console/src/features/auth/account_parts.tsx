import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { SecretInput } from "../../shared/secret_input";
import style from "./gate.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/auth");

export const back = (
  <Link className="link t-13" to="/sign-in">
    {say("backToSignIn")}
  </Link>
);

/** After the end of a page: the one way on. */
export const SignInLink = () => (
  <Button className={style.tall} fullWidth component={Link} to="/sign-in">
    {say("signIn")}
  </Button>
);

export const DoneNote = ({ children }: { children: string }) => (
  <div className="note ok" role="status">
    {children}
  </div>
);

export const SubmitButton = ({ children, isBusy }: { children: string; isBusy: boolean }) => (
  <Button type="submit" className={style.tall} fullWidth loading={isBusy}>
    {children}
  </Button>
);

export const toAccountProblem = (error: Error | null) => (error ? asApiError(error) : undefined);

type PasswordProps = { value: string; error?: string; onChange: (value: string) => void };

export function PasswordField({ value, error, onChange }: PasswordProps) {
  return (
    <SecretInput
      size="md"
      label={say("newPassword")}
      description={say("passwordHint")}
      autoComplete="new-password"
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ "aria-label": say("show") }}
    />
  );
}
