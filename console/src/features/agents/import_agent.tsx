import { Button, FileButton, Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { words } from "../../shared/i18n/words";
import { importAgent, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = words(en, "features/agents");

/** Make a draft from an exported agent; what could not be taken over is said before it opens. */
export function ImportAgent() {
  const navigate = useNavigate();
  const add = useAgentChange(importAgent);
  const [problem, setProblem] = useState("");
  const open = (id: string) => void navigate({ to: "/agents/$agentId", params: { agentId: id } });
  const read = async (file: File | null) => {
    if (!file) return;
    setProblem("");
    try {
      const content = JSON.parse(await file.text());
      const { agent, warnings } = await add.mutateAsync(content);
      if (!warnings.length) open(agent.id);
    } catch (error) {
      setProblem(error instanceof SyntaxError ? say("importBad") : asApiError(error).message);
    }
  };
  const made = add.data;
  return (
    <>
      <FileButton accept="application/json,.json" onChange={(file) => void read(file)}>
        {(props) => (
          <Button {...props} variant="default" loading={add.isPending}>
            {say("import")}
          </Button>
        )}
      </FileButton>
      {problem && (
        <Modal opened onClose={() => setProblem("")} title={say("import")} size={420}>
          <div className="note bad" role="alert">
            {problem}
          </div>
        </Modal>
      )}
      {made && made.warnings.length > 0 && (
        <Modal opened onClose={() => open(made.agent.id)} title={say("imported", { name: made.agent.name })} size={460}>
          <div className="stack g12">
            <ul className="stack g6">
              {made.warnings.map((warning) => (
                <li key={warning} className="note warn">
                  {warning}
                </li>
              ))}
            </ul>
            <div>
              <Button onClick={() => open(made.agent.id)}>{say("open")}</Button>
            </div>
          </div>
        </Modal>
      )}
    </>
  );
}
