import TriangleAlert from "icon:triangle-alert";
import { Link } from "@tanstack/react-router";
import { createTranslator } from "../i18n/words";
import { useDraftSave } from "./unsaved";
import en from "./words.en.json";

const say = createTranslator(en, "shared/agent");

/** Says that something typed in Build is not part of the draft, why, and where it is. */
export function UnsavedDraftWarning({ agentId, reason }: { agentId: string; reason: string }) {
  return (
    <div className="note bad" role="alert">
      <TriangleAlert size={15} />
      <span className="grow">
        {say("unsaved")} {reason}{" "}
        <Link className="inline-link" to="/agents/$agentId" params={{ agentId }}>
          {say("openBuild")}
        </Link>
      </span>
    </div>
  );
}

/** Stands above the screens of an agent while changes of Build could not be saved. */
export function UnsavedDraftNote({ agentId }: { agentId: string }) {
  const { state, reason } = useDraftSave(agentId);
  return state === "unsaved" ? <UnsavedDraftWarning agentId={agentId} reason={reason} /> : null;
}
