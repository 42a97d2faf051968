import { useQuery } from "@tanstack/react-query";
import { createTranslator } from "../../shared/i18n/words";
import { AgentMark } from "../../shared/marks/agent_mark";
import style from "./agents.module.css";
import { type Template, templatesQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/agents");

/** Templates as cards; `count` limits them to the first ones. */
export function TemplateList({ count, onChoose }: { count?: number; onChoose: (template: Template) => void }) {
  const { data: templates = [] } = useQuery(templatesQuery);
  if (!templates.length) return null;
  return (
    <section className="stack g8" aria-label={say("templates")}>
      <h3 className="t-sec">{say("templates")}</h3>
      <div className={style.templates}>
        {templates.slice(0, count).map((template) => (
          <button key={template.id} type="button" className={style.template} onClick={() => onChoose(template)}>
            <AgentMark id={template.id} size={26} />
            <span className="stack">
              <span className="t-500">{template.name}</span>
              <span className="t-12 t-3">{template.description}</span>
            </span>
          </button>
        ))}
      </div>
    </section>
  );
}
