import { lazy, Suspense } from "react";
import type { PublishReviewProps } from "../versions/publish_review";

const Review = lazy(() => import("../versions/publish_review"));

/** The review before a draft is published; it is fetched when it is opened. */
export const PublishReview = (props: PublishReviewProps) => (
  <Suspense fallback={null}>
    <Review {...props} />
  </Suspense>
);
