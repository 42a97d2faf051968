import { Button, FileButton, Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { importAgent, useAgentChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

/** Make a draft from an exported agent; what could not be taken over is said before it opens. */
export function ImportAgentButton() {
  const navigate = useNavigate();
  const add = useAgentChange(importAgent);
  const [problem, setProblem] = useState("");
  const openAgent = (id: string) => void navigate({ to: "/agents/$agentId", params: { agentId: id } });
  const readAgentFile = async (file: File | null) => {
    if (!file) return;
    setProblem("");
    try {
      const content = JSON.parse(await file.text());
      const { agent, warnings } = await add.mutateAsync(content);
      if (!warnings.length) openAgent(agent.id);
    } catch (error) {
      setProblem(error instanceof SyntaxError ? say("importBad") : asApiError(error).message);
    }
  };
  const made = add.data;
  return (
    <>
      <FileButton accept="application/json,.json" onChange={(file) => void readAgentFile(file)}>
        {(props) => (
          <Button {...props} variant="default" loading={add.isPending}>
            {say("import")}
          </Button>
        )}
      </FileButton>
      {problem && (
        <Modal opened onClose={() => setProblem("")} title={say("import")} size={420}>
          <ProblemNote>{problem}</ProblemNote>
        </Modal>
      )}
      {made && made.warnings.length > 0 && (
        <Modal
          opened
          onClose={() => openAgent(made.agent.id)}
          title={say("imported", { name: made.agent.name })}
          size={460}
        >
          <div className="stack g12">
            <ul className="stack g6">
              {made.warnings.map((warning) => (
                <li key={warning} className="note warn">
                  {warning}
                </li>
              ))}
            </ul>
            <div>
              <Button onClick={() => openAgent(made.agent.id)}>{say("open")}</Button>
            </div>
          </div>
        </Modal>
      )}
    </>
  );
}
