import { Button } from "@mantine/core";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { toast } from "../../shared/toast/toasts";
import style from "./agents.module.css";
import { type Agent, changeMany, exportAgent, fileName, saveFile, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/agents");

/** What can be done with the chosen agents; it floats over the end of the list. */
export function Bulk({ chosen, onClear }: { chosen: Agent[]; onClear: () => void }) {
  const may = useMay();
  const change = useAgentChange(changeMany);
  const [problem, setProblem] = useState("");
  const attempt = async (work: () => Promise<void>) => {
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(asApiError(error).message);
    }
  };
  const run = (op: "publish" | "archive") =>
    attempt(async () => {
      const { count, failed, reason } = await change.mutateAsync({ ids: chosen.map((one) => one.id), op });
      if (failed) return setProblem(say("failedSome", { failed, count, reason }));
      toast(say(op === "publish" ? "publishedMany" : "archivedMany", { count }));
      onClear();
    });
  const save = () =>
    attempt(async () => {
      for (const agent of chosen) saveFile(fileName(agent.name), await exportAgent(agent.id));
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
          <Button size="xs" variant="default" loading={change.isPending} onClick={() => void run("publish")}>
            {say("publish")}
          </Button>
          <Button size="xs" variant="default" loading={change.isPending} onClick={() => void run("archive")}>
            {say("archive")}
          </Button>
        </>
      )}
      <Button size="xs" variant="default" onClick={() => void save()}>
        {say("export")}
      </Button>
      <Button size="xs" variant="subtle" onClick={onClear}>
        {say("cancel")}
      </Button>
    </section>
  );
}
