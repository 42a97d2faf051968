import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { words } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { Status } from "../../shared/marks/status";
import { Failure, RowsLoading } from "../../shared/states/states";
import { spanTitle } from "../../shared/trace/layout";
import { contentOf, messagesQuery, traceQuery } from "../../shared/trace/queries";
import { TraceView } from "../../shared/trace/view";
import en from "./words.en.json";

const say = words(en, "features/traces");

export default function TracePage() {
  const { traceId } = useParams({ from: "/frame/traces/$traceId" });
  const { step } = useSearch({ from: "/frame/traces/$traceId" });
  const navigate = useNavigate();
  const may = useMay();
  const found = useQuery(traceQuery(traceId));
  const trace = found.data;
  const conversationId = trace?.conversation_id ?? "";
  const isReadable = Boolean(conversationId) && may("conversations:read");
  const messages = useQuery({ ...messagesQuery(conversationId), enabled: isReadable });
  const trail = [{ label: say("conversations"), to: "/conversations" }];
  if (!trace)
    return (
      <>
        <Bar trail={trail} title={say("title")} isThere={false} />
        {found.error ? (
          <Failure error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <RowsLoading columns={[30, 300, 96, 96]} />
        )}
      </>
    );
  const root = trace.spans[0];
  const { name, note } = root ? spanTitle(root) : { name: trace.name, note: "" };
  return (
    <>
      <Bar
        trail={trail}
        title={[name, note].filter(Boolean).join(" · ")}
        after={
          <>
            <Status tone={trace.status === "error" ? "bad" : "ok"}>
              {say(trace.status === "error" ? "failed" : "ok")}
            </Status>
            <span className="wide">
              <CopyableId>{trace.trace_id}</CopyableId>
            </span>
          </>
        }
      >
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
      </Bar>
      <TraceView
        trace={trace}
        content={contentOf(messages.data?.data)}
        chosen={step}
        onChoose={(id) =>
          void navigate({ to: "/traces/$traceId", params: { traceId }, search: { step: id }, replace: true })
        }
      />
    </>
  );
}
