import ArrowRight from "icon:arrow-right";
import BookOpen from "icon:book-open";
import LifeBuoy from "icon:life-buoy";
import PenLine from "icon:pen-line";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useRef, useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { chatModelsQuery } from "../../shared/providers/queries";
import { useMissingAccessHint } from "../../shared/states/access";
import { WelcomeCard } from "./card";
import { createAgentFromTemplate, type MadeAgents } from "./queries";
import { TEMPLATES, type TemplateName } from "./templates";
import style from "./welcome.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/welcome");
const LOOKS: Record<TemplateName, { icon: ComponentType<{ size?: number }>; kind: string }> = {
  guide: { icon: BookOpen, kind: "k-know" },
  support: { icon: LifeBuoy, kind: "k-form" },
  writer: { icon: PenLine, kind: "k-model" },
};

type ChoiceProps = { name: TemplateName; isChosen: boolean; onChoose: () => void };

function TemplateChoice({ name, isChosen, onChoose }: ChoiceProps) {
  const { icon: Icon, kind } = LOOKS[name];
  return (
    <div className={style.choice} data-on={isChosen || undefined}>
      <label>
        <input
          type="radio"
          name="agent"
          checked={isChosen}
          onChange={onChoose}
          aria-label={say(`${name}Name`)}
          aria-describedby={`about-${name}`}
        />
        <span className={`kind ${kind}`}>
          <Icon size={16} />
        </span>
        <span className="stack grow">
          <b className="t-500">{say(`${name}Name`)}</b>
          <span className="t-13 t-2" id={`about-${name}`}>
            {say(`${name}About`)}
          </span>
        </span>
      </label>
    </div>
  );
}

/** An agent that knows something already, or one to teach. */
export function AgentStep({
  model,
  onBack,
  onDone,
}: {
  model?: string;
  onBack?: () => void;
  onDone: (agentId: string) => void;
}) {
  const may = usePermissionCheck();
  const client = useQueryClient();
  const { data: models } = useQuery({ ...chatModelsQuery, enabled: !model });
  const [chosen, setChosen] = useState<TemplateName>("guide");
  const [progress, setProgress] = useState("");
  const made = useRef<MadeAgents>(new Map());
  const create = useMutation({
    mutationFn: async () => {
      const used = model ?? models?.find((one) => one.available)?.id ?? "local/smollm2-135m";
      return createAgentFromTemplate(made.current, chosen, used, (step) => setProgress(say(step)));
    },
    onSuccess: onDone,
    onSettled: () => {
      setProgress("");
      // Also after a failure: the agent may be there, and only its document missing.
      void client.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  const canCreate = may("agents:write");
  const needs = useMissingAccessHint("agents:write");
  return (
    <WelcomeCard title={say("agentTitle")} text={say("agentText")}>
      <fieldset className={style.choices} disabled={create.isPending}>
        <legend className="sr">{say("agent")}</legend>
        {TEMPLATES.map((name) => (
          <TemplateChoice key={name} name={name} isChosen={chosen === name} onChoose={() => setChosen(name)} />
        ))}
      </fieldset>
      <RefusalNote error={create.error} />
      <div className="row between">
        {onBack && (
          <Button variant="subtle" onClick={onBack}>
            {say("back")}
          </Button>
        )}
        <span className="row g12 push">
          <span className="t-13 t-2" role="status">
            {progress || needs}
          </span>
          <Button
            className={style.tall}
            loading={create.isPending}
            disabled={!canCreate}
            onClick={() => create.mutate()}
            rightSection={<ArrowRight size={15} />}
          >
            {say("createNamed", { name: say(`${chosen}Name`) })}
          </Button>
        </span>
      </div>
    </WelcomeCard>
  );
}
