import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { createTranslator } from "../i18n/words";
import { FailureState } from "../states/states";
import { traceQuery } from "../trace/queries";
import { TraceWaterfall } from "../trace/waterfall";
import style from "./chat.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "shared/chat");

/** The steps of a reply in time, under the reply; the page of the trace has the rest. */
export default function ReplyTrace({ traceId }: { traceId: string }) {
  const trace = useQuery(traceQuery(traceId));
  const [chosen, setChosen] = useState<string>();
  if (trace.error) return <FailureState error={trace.error} onRetry={() => void trace.refetch()} />;
  if (!trace.data) return null;
  return (
    <div className={style.steps}>
      <TraceWaterfall spans={trace.data.spans} chosen={chosen} onChoose={setChosen} />
      <Link
        className="inline-link t-12"
        to="/traces/$traceId"
        params={{ traceId }}
        search={chosen ? { step: chosen } : undefined}
      >
        {say(chosen ? "openStep" : "openTrace")}
      </Link>
    </div>
  );
}
