import { Button, Kbd } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { isWaitingTurn } from "../../shared/chat/chat";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { type ColumnChoice, listColumnChoices, ratingsForChoice } from "./choices";
import style from "./compare.module.css";
import type { Column } from "./comparison";
import en from "./words.en.json";

const say = createTranslator(en, "features/versions");

const nameOfChoice = (choice: ColumnChoice, count: number) => {
  if (choice === "same") return say("same");
  if (count > 2) return say("column", { place: choice + 1 });
  return say(choice === 0 ? "left" : "right");
};

/** Which of the last replies is better; kept as feedback on them. */
export function VerdictPicker({ agentId, columns }: { agentId: string; columns: Column[] }) {
  const may = usePermissionCheck();
  const last = columns.map(({ turns }) => turns.at(-1));
  const about = last.map((turn) => turn?.messageId).join();
  const [chosen, setChosen] = useState<{ about: string; choice: ColumnChoice }>();
  const rate = useMutation({
    mutationFn: (choice: ColumnChoice) =>
      Promise.all(
        ratingsForChoice(choice, columns.length).map((rating, i) =>
          api.POST("/api/v1/agents/{agent_id}/messages/{message_id}/feedback", {
            params: { path: { agent_id: agentId, message_id: last[i]?.messageId ?? "" } },
            body: { rating },
          }),
        ),
      ),
    onSuccess: (_, choice) => setChosen({ about, choice }),
  });
  const isReady =
    may("conversations:write") &&
    last.every((turn) => turn?.stop && turn.messageId && !turn.isLive && !isWaitingTurn(turn));
  const choices = isReady ? listColumnChoices(columns.length) : [];
  useShortcutKeys(Object.fromEntries(choices.map((choice, i) => [String(i + 1), () => rate.mutate(choice)])));
  if (!isReady) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
    <div className={style.verdict} role="group" aria-label={say("better")}>
      <span className="t-13 t-2">{say("better")}</span>
      {choices.map((choice, i) => {
        const isChosen = chosen?.about === about && chosen.choice === choice;
        return (
          <Button
            key={choice}
            size="xs"
            variant={isChosen ? "light" : "default"}
            aria-pressed={isChosen}
            rightSection={<Kbd>{i + 1}</Kbd>}
            onClick={() => rate.mutate(choice)}
          >
            {nameOfChoice(choice, columns.length)}
          </Button>
        );
      })}
      {rate.error && (
        <span className="t-12" role="alert">
          {asApiError(rate.error).message}
        </span>
      )}
    </div>
  );
}
