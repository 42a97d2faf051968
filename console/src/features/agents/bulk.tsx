import { Button } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import style from "./agents.module.css";
import { type Agent, agentFileName, changeManyAgents, downloadFile, exportAgent, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

/** What can be done with the chosen agents; it floats over the end of the list. */
export function BulkActionBar({ chosen, onClear }: { chosen: Agent[]; onClear: () => void }) {
  const may = usePermissionCheck();
  const change = useAgentChange(changeManyAgents);
  const [problem, setProblem] = useState("");
  const attemptAction = async (work: () => Promise<void>) => {
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(asApiError(error).message);
    }
  };
  const runForAll = (op: "publish" | "archive") =>
    attemptAction(async () => {
      const { count, failed, reason } = await change.mutateAsync({ ids: chosen.map((one) => one.id), op });
      if (failed) return setProblem(say("failedSome", { failed, count, reason }));
      showToast(say(op === "publish" ? "publishedMany" : "archivedMany", { count }));
      onClear();
    });
  const downloadChosen = () =>
    attemptAction(async () => {
      for (const agent of chosen) downloadFile(agentFileName(agent.name), await exportAgent(agent.id));
    });
  return (
    <section className={style.bulk} aria-label={say("bulk")}>
      {problem && (
        <p className={style.problem} role="alert">
          {problem}
        </p>
      )}
      <span className="t-13 num">{say("chosen", { count: chosen.length })}</span>
      {may("agents:write") && (
        <>
          <Button size="xs" variant="default" loading={change.isPending} onClick={() => void runForAll("publish")}>
            {say("publish")}
          </Button>
          <Button size="xs" variant="default" loading={change.isPending} onClick={() => void runForAll("archive")}>
            {say("archive")}
          </Button>
        </>
      )}
      <Button size="xs" variant="default" onClick={() => void downloadChosen()}>
        {say("export")}
      </Button>
      <Button size="xs" variant="subtle" onClick={onClear}>
        {say("cancel")}
      </Button>
    </section>
  );
}
