import Eye from "icon:eye";
import EyeOff from "icon:eye-off";
import { Button } from "@mantine/core";
import { useMemo, useSyncExternalStore } from "react";
import { createTranslator } from "../i18n/words";
import { REVEALED_SECONDS, SecretReveal } from "./secret_reveal";
import style from "./secrets.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/secrets");
const RING_LENGTH = 62.8;

/** The secrets of an object, which are read when somebody asks for them and hidden again by themselves. */
export function useRevealedSecrets(id: string, read: (id: string) => Promise<Record<string, unknown>>) {
  const store = useMemo(() => new SecretReveal(() => read(id)), [id, read]);
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot);
  return { ...state, reveal: store.reveal, hide: store.hide };
}

type RevealControlProps = { revealed: ReturnType<typeof useRevealedSecrets> };

/** Shows the secrets in clear; while they are, how long they stay in sight and the way to hide them now. */
export function RevealControl({ revealed: { secrets, secondsLeft, isBusy, reveal, hide } }: RevealControlProps) {
  if (!secrets)
    return (
      <Button size="xs" variant="subtle" loading={isBusy} leftSection={<Eye size={13} />} onClick={() => void reveal()}>
        {say("reveal")}
      </Button>
    );
  return (
    <>
      <RevealCountdown secondsLeft={secondsLeft} />
      <Button size="xs" variant="subtle" leftSection={<EyeOff size={13} />} onClick={hide}>
        {say("hide")}
      </Button>
    </>
  );
}

const RevealCountdown = ({ secondsLeft }: { secondsLeft: number }) => (
  <span className={style.ring} role="timer" aria-label={say("hiddenIn", { count: secondsLeft })}>
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden>
      <circle cx="12" cy="12" r="10" className={style.ringBack} />
      <circle
        cx="12"
        cy="12"
        r="10"
        className={style.ringLeft}
        strokeDasharray={RING_LENGTH}
        strokeDashoffset={RING_LENGTH * (1 - secondsLeft / REVEALED_SECONDS)}
      />
    </svg>
    <b className="num">{secondsLeft}</b>
  </span>
);
