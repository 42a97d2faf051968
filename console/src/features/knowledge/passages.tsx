import ChevronLeft from "icon:chevron-left";
import X from "icon:x";
import { ActionIcon, Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useShortcutKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { DocumentState, FailureReason } from "./document_state";
import style from "./knowledge.module.css";
import { documentQuery, passagesQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");

/** Everything that searches can find of one document, in its order. */
export function PassagesDrawer({ agentId, documentId }: { agentId: string; documentId: string }) {
  const navigate = useNavigate();
  const { data: document, error } = useQuery(documentQuery(agentId, documentId));
  const closeDrawer = () =>
    void navigate({
      from: "/agents/$agentId/knowledge",
      to: "/agents/$agentId/knowledge",
      params: { agentId },
      search: (old) => ({ ...old, document: undefined }),
    });
  useShortcutKeys({ escape: closeDrawer });
  return (
    <>
      <header className={style.sideHead}>
        <ActionIcon className={style.back} aria-label={say("documents")} onClick={closeDrawer}>
          <ChevronLeft size={18} />
        </ActionIcon>
        <div className="stack grow">
          <h2 className="t-sec cut" title={document?.name}>
            {document?.name ?? "…"}
          </h2>
          {document && <CopyableId>{document.id}</CopyableId>}
        </div>
        {document && <DocumentState of={document} />}
        <ActionIcon className={style.closeSide} aria-label={say("close")} onClick={closeDrawer}>
          <X size={16} />
        </ActionIcon>
      </header>
      {error ? (
        <FailureState error={error} />
      ) : (
        <div className={style.sideBody}>
          {document?.status === "failed" && (
            <div className="note bad">
              <FailureReason of={document} />
            </div>
          )}
          <PassageList agentId={agentId} documentId={documentId} />
        </div>
      )}
    </>
  );
}

function PassageList({ agentId, documentId }: { agentId: string; documentId: string }) {
  const list = useInfiniteQuery(passagesQuery(agentId, documentId));
  const passages = list.data?.pages.flatMap((page) => page.data);
  if (list.error) return <FailureState error={list.error} onRetry={() => void list.refetch()} />;
  if (!passages) return <RowSkeletons columns={[24, 240]} rows={4} />;
  if (!passages.length) return <p className="t-13 t-3">{say("noPassages")}</p>;
  return (
    <>
      <p className="t-12 t-3 num">{say("passagesCount", { count: list.data?.pages[0]?.pagination.total ?? 0 })}</p>
      <ol className={style.passages}>
        {passages.map((one) => (
          <li key={one.id} className={style.passage}>
            <div className="row g8 t-12 t-3">
              <span className="mono num">{one.position}</span>
              {one.heading && <span className="cut">{one.heading}</span>}
              {one.page !== null && <span className="push fix num">{say("page", { page: one.page })}</span>}
            </div>
            <p className={style.text}>{one.text}</p>
          </li>
        ))}
      </ol>
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {say("morePassages")}
        </Button>
      )}
    </>
  );
}
