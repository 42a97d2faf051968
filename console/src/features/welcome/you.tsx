import ArrowRight from "icon:arrow-right";
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { asApiError } from "../../api/errors";
import { type FirstPerson, isSetupOpen, setUp } from "../../api/session";
import { words } from "../../shared/i18n/words";
import { Card } from "./card";
import { tokenOf } from "./search";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = words(en, "features/welcome");
type Field = Exclude<keyof FirstPerson, "token">;
const FIELDS: { name: Field; complete: string; type?: string }[] = [
  { name: "first_name", complete: "given-name" },
  { name: "last_name", complete: "family-name" },
  { name: "email", complete: "username", type: "email" },
];

/** The first administrator, made with the link that the server printed in its terminal. */
export function YouStep({ onDone }: { onDone: () => void }) {
  const navigate = useNavigate();
  const given = tokenOf(useLocation({ select: (now) => now.hash }));
  const [person, setPerson] = useState({ first_name: "", last_name: "", email: "", password: "" });
  const [link, setLink] = useState("");
  const [wasSent, setSent] = useState(false);
  const { data: isOpen } = useQuery({ queryKey: ["auth", "setup"], queryFn: isSetupOpen });
  const create = useMutation({ mutationFn: setUp, onSuccess: onDone });
  const error = create.error ? asApiError(create.error) : undefined;
  const details = (error?.status === 422 ? error.details : {}) as Partial<Record<keyof FirstPerson, string>>;
  useEffect(() => {
    if (isOpen === false) void navigate({ to: "/sign-in", search: { to: "/welcome" }, replace: true });
  }, [isOpen, navigate]);
  const set = (name: Field) => (event: { currentTarget: HTMLInputElement }) =>
    setPerson({ ...person, [name]: event.currentTarget.value });
  const token = given || tokenOf(link);
  const isComplete = Object.values(person).every((value) => value.trim()) && Boolean(token);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
    if (isComplete) create.mutate({ ...person, token });
  };
  /** Why a field keeps the account from being made; nothing before the first try. */
  const problemOf = (name: Field) => details[name] ?? (wasSent && !person[name].trim() ? say("missing") : undefined);
  if (!isOpen) return null;
  const isMarked = FIELDS.some(({ name }) => details[name]) || details.password;
  return (
    <Card title={say("youTitle")} text={say("youText")}>
      <form className="stack g20" onSubmit={submit} noValidate>
        {error && !isMarked && (
          <div className="note bad" role="alert">
            {details.token ? say("linkWrong") : error.message}
          </div>
        )}
        <div className={style.fields}>
          {FIELDS.map(({ name, complete, type }, i) => (
            <TextInput
              key={name}
              size="md"
              className={name === "email" ? style.both : undefined}
              label={say(name)}
              type={type}
              autoComplete={complete}
              autoFocus={i === 0}
              error={problemOf(name)}
              value={person[name]}
              onChange={set(name)}
            />
          ))}
          <PasswordInput
            size="md"
            className={style.both}
            label={say("password")}
            description={say("passwordHint")}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": say("showPassword") }}
            error={problemOf("password")}
            value={person.password}
            onChange={set("password")}
          />
          {!given && (
            <TextInput
              size="md"
              className={style.both}
              label={say("link")}
              description={say("linkHint")}
              error={wasSent && !token ? say("missing") : undefined}
              autoComplete="off"
              value={link}
              onChange={(event) => setLink(event.currentTarget.value)}
            />
          )}
        </div>
        <div className="row between wrap">
          <Link className="t-13 t-2" to="/sign-in">
            {say("haveAccount")}
          </Link>
          <Button
            type="submit"
            className={style.tall}
            loading={create.isPending}
            rightSection={<ArrowRight size={15} />}
          >
            {say("createAccount")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
