import RefreshCw from "icon:refresh-cw";
import TriangleAlert from "icon:triangle-alert";
import { Button } from "@mantine/core";
import type { Turn } from "../../../shared/chat/chat";
import { describeTurnError } from "../../../shared/chat/trouble";
import { createTranslator } from "../../../shared/i18n/words";
import type { ChatAgent } from "../chat_agents";
import { listDoneCalls } from "./done_work";
import style from "./message.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Props = { agent: ChatAgent; turn: Turn; isPutBack: boolean; onRetry?: () => void; onDiscard?: () => void };

/** Where the question is now, and whether anything was done before the answer broke off. */
function describeState(turn: Turn, isPutBack: boolean): string {
  const done = listDoneCalls(turn);
  const work = done ? say("wasDone", { done }) : say("nothingDone");
  return `${say(isPutBack ? "putBack" : turn.isRefused ? "notSent" : "questionKept")} ${work}`;
}

/** Why there is no answer, that nothing is lost, and the way to ask once more. */
export function FailedReply({ agent, turn, isPutBack, onRetry, onDiscard }: Props) {
  const { error, question } = turn;
  return (
    <section className={style.failed} role="alert">
      <TriangleAlert size={16} />
      <div className="stack g2 grow">
        <b className="t-500">{say(turn.text ? "brokeOff" : "couldNotAnswer", { name: agent.name })}</b>
        <span className="t-13">
          {error ? describeTurnError(error, turn) : say("noAnswerYet")} {describeState(turn, isPutBack)}
        </span>
        <span className={style.failedActs}>
          {onRetry && (
            <Button size="xs" leftSection={<RefreshCw size={13} />} onClick={onRetry}>
              {say("tryAgain")}
            </Button>
          )}
          {navigator.clipboard && question && (
            <Button
              size="xs"
              variant="default"
              onClick={() => void navigator.clipboard.writeText(question).catch(() => undefined)}
            >
              {say("copyMine")}
            </Button>
          )}
          {onDiscard && (
            <Button size="xs" variant="default" onClick={onDiscard}>
              {say("discard")}
            </Button>
          )}
          {error?.correlationId && (
            <span className="t-12 push">
              {say("tellSupport")} <span className="mono">{error.correlationId}</span>
            </span>
          )}
        </span>
      </div>
    </section>
  );
}
