import { lazy, Suspense } from "react";
import type { PublishReviewProps } from "../versions/publish_review";
import { SavedFirst } from "./saved_first";

const Review = lazy(() => import("../versions/publish_review"));

/** The review before a draft is published; it is fetched when it is opened. */
export const PublishReview = (props: PublishReviewProps) => (
  <SavedFirst agentId={props.agentId} onClose={props.onClose}>
    <Suspense fallback={null}>
      <Review {...props} />
    </Suspense>
  </SavedFirst>
);
