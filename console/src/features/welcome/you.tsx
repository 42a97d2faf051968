import ArrowRight from "icon:arrow-right";
import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, Navigate, useLocation } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { createFirstPerson, type FirstPerson, isSetupOpen, loadLinkState } from "../../api/session";
import { findEmailProblem, findPasswordProblem, findRequiredProblem, useFormChecks } from "../../shared/form_checks";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { SecretInput } from "../../shared/secret_input";
import { useFieldProblems } from "../../shared/use_fields";
import { WelcomeCard } from "./card";
import { extractToken } from "./printed_link";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");
type Field = Exclude<keyof FirstPerson, "token">;
const FIELDS: { name: Field; complete: string; type?: string }[] = [
  { name: "first_name", complete: "given-name" },
  { name: "last_name", complete: "family-name" },
  { name: "email", complete: "username", type: "email" },
];
const NAMES = ["first_name", "last_name", "email", "password", "token"] as const;
/** Shorter texts are on their way to a token. */
const MIN_TOKEN_LENGTH = 20;

const findLinkProblem = (token: string) =>
  token.length >= MIN_TOKEN_LENGTH ? undefined : say(token ? "linkWrong" : "linkMissing");

/** Whether the link works, as soon as there is one: nobody types in everything for nothing. */
const useLinkState = (token: string) =>
  useQuery({
    queryKey: ["auth", "link", token],
    queryFn: () => loadLinkState("setup", token),
    enabled: token.length >= MIN_TOKEN_LENGTH,
    retry: false,
  }).data;

/** The first administrator, made with the link that the server printed in its terminal. */
export function YouStep({ onDone }: { onDone: () => void }) {
  const given = extractToken(useLocation({ select: (now) => now.hash }));
  const [link, setLink] = useState("");
  const { data: isOpen } = useQuery({ queryKey: ["auth", "setup"], queryFn: isSetupOpen });
  const ofGiven = useLinkState(isOpen ? given : "");
  const isGivenWrong = Boolean(given) && (ofGiven === "wrong" || given.length < MIN_TOKEN_LENGTH);
  const pasted = extractToken(link);
  const ofPasted = useLinkState(isOpen ? pasted : "");
  const isUsed = isOpen === false || ofGiven === "used" || ofPasted === "used";
  if (isOpen === undefined) return null;
  if (!isOpen && !given) return <Navigate to="/sign-in" search={{ to: "/welcome" }} replace />;
  if (isUsed) return <UsedLinkNote />;
  const asksForLink = !given || isGivenWrong;
  const isPastedWrong = ofPasted === "wrong";
  const renderLinkField = (problem?: string) => (
    <TextInput
      size="md"
      className={style.both}
      label={say("link")}
      description={say("linkHint")}
      error={isPastedWrong ? say("linkWrong") : problem}
      autoComplete="off"
      autoFocus={isGivenWrong}
      value={link}
      onChange={(event) => setLink(event.currentTarget.value)}
    />
  );
  if (isGivenWrong && ofPasted !== "works")
    return (
      <WelcomeCard title={say("linkWrongTitle")} text={say("linkWrong")}>
        <AnotherLinkForm token={pasted} isChecking={Boolean(link) && pasted.length >= MIN_TOKEN_LENGTH && !ofPasted}>
          {renderLinkField}
        </AnotherLinkForm>
      </WelcomeCard>
    );
  return (
    <PersonForm
      token={asksForLink ? pasted : given}
      linkField={given ? undefined : renderLinkField}
      isLinkWrong={isPastedWrong}
      onDone={onDone}
    />
  );
}

type LinkField = (problem?: string) => ReactNode;
type AnotherLinkProps = { token: string; isChecking: boolean; children: LinkField };

/** Another link in place of the wrong one. A whole link is tried at once; the button says what is wrong with a part. */
function AnotherLinkForm({ token, isChecking, children: linkField }: AnotherLinkProps) {
  const form = useRef<HTMLFormElement>(null);
  const { check, wrong: problemOfField } = useFormChecks(form, { link: findLinkProblem(token) });
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    check();
  };
  return (
    <form className="stack g20" ref={form} onSubmit={handleSubmit} noValidate>
      {linkField(problemOfField("link"))}
      <div className="row between wrap">
        <SignInInsteadNote />
        <Button type="submit" className={style.tall} loading={isChecking} rightSection={<ArrowRight size={15} />}>
          {say("continue")}
        </Button>
      </div>
    </form>
  );
}

const SignInInsteadNote = () => (
  <Link className="t-13 t-2" to="/sign-in">
    {say("haveAccount")}
  </Link>
);

const UsedLinkNote = () => (
  <WelcomeCard title={say("linkUsedTitle")} text={say("linkUsed")}>
    <div>
      <Button
        className={style.tall}
        rightSection={<ArrowRight size={15} />}
        renderRoot={(props) => <Link {...props} to="/sign-in" />}
      >
        {say("signIn")}
      </Button>
    </div>
  </WelcomeCard>
);

type FormProps = { token: string; linkField?: LinkField; isLinkWrong: boolean; onDone: () => void };

function PersonForm({ token, linkField, isLinkWrong, onDone }: FormProps) {
  const [person, setPerson] = useState({ first_name: "", last_name: "", email: "", password: "" });
  const create = useMutation({ mutationFn: createFirstPerson, onSuccess: onDone });
  const { form, rest, problemOf } = useFieldProblems(create.error, NAMES);
  const setField = (name: Field) => (event: { currentTarget: HTMLInputElement }) =>
    setPerson({ ...person, [name]: event.currentTarget.value });
  const { check, wrong: unfit } = useFormChecks(form, {
    first_name: findRequiredProblem(person.first_name),
    last_name: findRequiredProblem(person.last_name),
    email: findEmailProblem(person.email),
    password: findPasswordProblem(person.password),
    token: isLinkWrong ? say("linkWrong") : findLinkProblem(token),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (check()) create.mutate({ ...person, token });
  };
  /** Why a field keeps the account from being made; nothing before the first try. */
  const wrong = (name: Field) => unfit(name) ?? problemOf(name);
  const aboutLink = unfit("token") ?? (problemOf("token") && say("linkWrong"));
  const above = linkField ? rest : aboutLink || rest;
  return (
    <WelcomeCard title={say("youTitle")} text={say("youText")}>
      <form className="stack g20" ref={form} onSubmit={submit} noValidate>
        <ProblemNote>{above}</ProblemNote>
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
              error={wrong(name)}
              value={person[name]}
              onChange={setField(name)}
            />
          ))}
          <SecretInput
            size="md"
            className={style.both}
            label={say("password")}
            description={say("passwordHint")}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ "aria-label": say("showPassword") }}
            error={wrong("password")}
            value={person.password}
            onChange={setField("password")}
          />
          {linkField?.(aboutLink)}
        </div>
        <div className="row between wrap">
          <SignInInsteadNote />
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
    </WelcomeCard>
  );
}
