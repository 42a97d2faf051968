import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { draftQuery } from "../versions/queries";
import { PublishReview } from "./publish_review";
import { SavedFirst } from "./saved_first";

const PublishDialog = lazy(() => import("./publish_dialog"));
type Props = { agentId: string; onClose: () => void; onPublished: () => void };

/** Publishes an agent: what its draft changes is reviewed first; without a draft it is published as it is. */
export const PublishButton = (props: Props) => (
  <SavedFirst agentId={props.agentId} onClose={props.onClose}>
    <PublishSaved {...props} />
  </SavedFirst>
);

function PublishSaved({ agentId, onClose, onPublished }: Props) {
  const client = useQueryClient();
  // Whether there is a draft is asked now: an earlier answer may be older than what was typed last.
  const draftNow = useQuery({ ...draftQuery(agentId), staleTime: 0 });
  const { isError, isFetchedAfterMount } = draftNow;
  const draft = isFetchedAfterMount ? draftNow.data : undefined;
  const closeAndReport = async () => {
    onPublished();
    await client.invalidateQueries({ queryKey: ["agents"] });
  };
  // A draft that cannot be read is looked at by the review, which says so.
  if (!draft && !isError) return null;
  if (!draft || draft.is_stored)
    return <PublishReview agentId={agentId} onClose={onClose} onPublished={() => void closeAndReport()} />;
  return (
    <Suspense fallback={null}>
      <PublishDialog agentId={agentId} onClose={onClose} onPublished={() => void closeAndReport()} />
    </Suspense>
  );
}
