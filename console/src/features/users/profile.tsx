import { Button, SegmentedControl, Switch, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, unwrapData } from "../../api/client";
import { meQuery } from "../../api/queries";
import { findPasswordProblem, findRequiredProblem, useFormChecks } from "../../shared/form_checks";
import { PageBar } from "../../shared/frame/bar";
import { areSingleKeysOff } from "../../shared/frame/keys";
import { changeLanguage, LANGUAGES, type Language, language } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { Avatar } from "../../shared/marks/avatar";
import { StatusPill } from "../../shared/marks/status";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { deviceNameOf } from "../../shared/people/browser";
import { roleNameOf } from "../../shared/people/roles";
import { SecretInput } from "../../shared/secret_input";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatTimeSince } from "../../shared/time";
import { useFieldProblems } from "../../shared/use_fields";
import { ChangeNameForm } from "./change_name";
import style from "./profile.module.css";
import { SecondFactorSection } from "./second_factor";
import en from "./words.en.json";

const say = createTranslator(en, "features/users");

/** `id` is where the command palette leads to. */
const ProfilePart = ({ id, title, children }: { id?: string; title: string; children: ReactNode }) => (
  <section className="stack g8" aria-label={title} id={id}>
    <h2 className="t-sec">{title}</h2>
    <div className={`card ${style.card}`}>{children}</div>
  </section>
);

export default function ProfilePage() {
  const me = useQuery(meQuery);
  if (me.error) return <FailureState error={me.error} onRetry={() => void me.refetch()} />;
  if (!me.data) return <RowSkeletons columns={[40, 300]} />;
  const name = `${me.data.first_name} ${me.data.last_name}`.trim() || me.data.email;
  return (
    <>
      <PageBar title={say("title")} />
      <div className={`body narrow stack ${style.parts}`}>
        <div className="row g12">
          <Avatar name={name} size="l" />
          <div className="stack">
            <span className="t-500">{name}</span>
            <span className="t-13 t-2">
              {me.data.email} · {roleNameOf(me.data.role)}
            </span>
          </div>
        </div>
        <ProfilePart title={say("name")}>
          <ChangeNameForm firstName={me.data.first_name} lastName={me.data.last_name} />
        </ProfilePart>
        <ProfilePart title={say("appearance")} id="appearance">
          <AppearanceSection />
        </ProfilePart>
        <ProfilePart title={say("language")} id="language">
          <SegmentedControl
            aria-label={say("language")}
            value={language}
            onChange={(chosen) => changeLanguage(chosen as Language)}
            data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          />
        </ProfilePart>
        <ProfilePart title={say("password")} id="password">
          <ChangePasswordForm />
        </ProfilePart>
        <ProfilePart title={say("mfa")} id="second-factor">
          <SecondFactorSection />
        </ProfilePart>
        <ProfilePart title={say("sessions")} id="sessions">
          <SessionList />
        </ProfilePart>
      </div>
    </>
  );
}

function AppearanceSection() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [isOn, setOn] = useState(!areSingleKeysOff());
  return (
    <div className="row g16 wrap">
      <SegmentedControl
        aria-label={say("appearance")}
        value={colorScheme}
        onChange={(value) => setColorScheme(value as "auto" | "light" | "dark")}
        data={[
          { value: "auto", label: say("auto") },
          { value: "light", label: say("light") },
          { value: "dark", label: say("dark") },
        ]}
      />
      <Switch
        label={say("singleKeys")}
        checked={isOn}
        onChange={(event) => {
          setOn(event.currentTarget.checked);
          localStorage.setItem("retinue.single-keys", event.currentTarget.checked ? "on" : "off");
        }}
      />
    </div>
  );
}

function ChangePasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () =>
      unwrapData(api.POST("/auth/change-password", { body: { current_password: current, new_password: next } })),
    onSuccess: () => {
      setCurrent("");
      setNext("");
    },
  });
  const { form, rest, problemOf } = useFieldProblems(change.error, ["current_password", "new_password"]);
  const { check, wrong, reset } = useFormChecks(form, {
    current_password: findRequiredProblem(current),
    new_password: findPasswordProblem(next),
  });
  const toggle = { "aria-label": say("show") };
  return (
    <form
      ref={form}
      className="stack g12"
      onSubmit={(event) => {
        event.preventDefault();
        if (check()) change.mutate(undefined, { onSuccess: reset });
      }}
    >
      {change.isSuccess && (
        <div className="note ok" role="status">
          {say("changed")}
        </div>
      )}
      <SecretInput
        label={say("current")}
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        error={wrong("current_password") ?? problemOf("current_password")}
        visibilityToggleButtonProps={toggle}
      />
      <SecretInput
        label={say("new")}
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.currentTarget.value)}
        error={wrong("new_password") ?? problemOf("new_password")}
        visibilityToggleButtonProps={toggle}
      />
      <ProblemNote>{rest}</ProblemNote>
      <div>
        <Button type="submit" variant="default" loading={change.isPending}>
          {say("change")}
        </Button>
      </div>
    </form>
  );
}

function SessionList() {
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["auth", "sessions"], queryFn: () => unwrapData(api.GET("/auth/sessions")) });
  const refreshSessions = () => client.invalidateQueries({ queryKey: ["auth", "sessions"] });
  const end = useMutation({
    mutationFn: (id: string) => api.DELETE("/auth/sessions/{session_id}", { params: { path: { session_id: id } } }),
    onSuccess: refreshSessions,
  });
  const endOthers = useMutation({
    mutationFn: () => api.POST("/auth/sessions/revoke-others"),
    onSuccess: refreshSessions,
  });
  if (list.error) return <FailureState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <div className="stack g12">
      <ul className="stack g8">
        {(list.data?.data ?? []).map((session) => (
          <li key={session.id} className="row g12">
            <div className="stack grow">
              <span className="row g8 t-13">
                <span className="cut" title={session.user_agent ?? undefined}>
                  {deviceNameOf(session.user_agent)}
                </span>
                {session.is_current && <StatusPill tone="ok">{say("here")}</StatusPill>}
              </span>
              <span className="t-12 t-3">
                {session.ip_address} · {say("usedAt", { time: formatTimeSince(session.last_used_at) })}
              </span>
            </div>
            {!session.is_current && (
              <Button size="xs" variant="default" onClick={() => end.mutate(session.id)}>
                {say("end")}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div>
        <Button variant="default" disabled={(list.data?.data.length ?? 0) < 2} onClick={() => endOthers.mutate()}>
          {say("endOthers")}
        </Button>
      </div>
    </div>
  );
}
