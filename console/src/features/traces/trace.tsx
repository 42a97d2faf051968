import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { StatusLabel } from "../../shared/marks/status";
import { saveFile } from "../../shared/save_file";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { showToast } from "../../shared/toast/toasts";
import { describeSpan } from "../../shared/trace/layout";
import { messagesQuery, spanContentReader, traceQuery } from "../../shared/trace/queries";
import { TraceView } from "../../shared/trace/view";
import { loadOtlp } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/traces");

export default function TracePage() {
  const { traceId } = useParams({ from: "/frame/traces/$traceId" });
  const { step } = useSearch({ from: "/frame/traces/$traceId" });
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const found = useQuery(traceQuery(traceId));
  const trace = found.data;
  const conversationId = trace?.conversation_id ?? "";
  const isReadable = Boolean(conversationId) && may("conversations:read");
  const messages = useQuery({ ...messagesQuery(conversationId), enabled: isReadable });
  const trail = [{ label: say("traces"), to: "/traces" }];
  if (!trace)
    return (
      <>
        <PageBar trail={trail} title={say("title")} isThere={false} />
        {found.error ? (
          <FailureState error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <RowSkeletons columns={[30, 300, 96, 96]} />
        )}
      </>
    );
  const root = trace.spans[0];
  const { name, note } = root ? describeSpan(root) : { name: trace.name, note: "" };
  return (
    <>
      <PageBar
        trail={trail}
        title={[name, note].filter(Boolean).join(" · ")}
        after={
          <>
            <StatusLabel tone={trace.status === "error" ? "bad" : "ok"}>
              {say(trace.status === "error" ? "failed" : "ok")}
            </StatusLabel>
            <span className="wide">
              <CopyableId>{trace.trace_id}</CopyableId>
            </span>
          </>
        }
      >
        <Button variant="default" className="wide" onClick={() => void downloadOtlp(traceId)}>
          {say("download")}
        </Button>
        {isReadable && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/conversations/$conversationId"
                params={{ conversationId }}
                search={{ turn: trace.trace_id }}
              />
            )}
          >
            {say("conversation")}
          </Button>
        )}
      </PageBar>
      <TraceView
        trace={trace}
        content={spanContentReader(messages.data?.data)}
        chosen={step}
        onChoose={(id) =>
          void navigate({ to: "/traces/$traceId", params: { traceId }, search: { step: id }, replace: true })
        }
      />
    </>
  );
}

async function downloadOtlp(traceId: string) {
  try {
    const content = JSON.stringify(await loadOtlp(traceId), null, 2);
    saveFile(new Blob([content], { type: "application/json" }), `${traceId}.otlp.json`);
  } catch (error) {
    showToast(asApiError(error).message);
  }
}
