import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type Approval, approvalQuery, approvalsQuery } from "../../shared/approvals/queries";
import type { Show } from "../../shared/approvals/shows";

/** As the style sheet has it: without an id in the address, a phone shows only the list. */
export const isPhoneWidth = () => window.matchMedia("(max-width: 700px)").matches;

/**
 * The list, and the request beside it: the one that the address names, else the first.
 *
 * A request that is shown stays until the person goes on: if the pane followed the list, a click on Approve could
 * decide another request than the one that was read.
 */
export function useShownApproval(show: Show, id?: string) {
  const list = useQuery(approvalsQuery(show));
  const [kept, setKept] = useState<{ show: Show; id: string }>();
  const [waiting, setWaiting] = useState<string>();
  const [before, setBefore] = useState<{ show?: Show; id?: string; shownId?: string }>({});
  const wanted = id ?? (kept?.show === show ? kept.id : undefined);
  const rows = list.data;
  const inList = wanted ? rows?.find((one) => one.id === wanted) : rows?.[0];
  const other = useQuery({ ...approvalQuery(wanted ?? ""), enabled: Boolean(wanted && rows && !inList) });
  const shown: Approval | undefined = inList ?? (wanted ? other.data : undefined);
  const shownId = shown?.id;
  const isWaiting = shown?.status === "pending";
  if (before.show !== show || before.id !== id || before.shownId !== shownId) {
    setBefore({ show, id, shownId });
    if (id) setKept(undefined);
    else if (shownId && !isPhoneWidth()) setKept({ show, id: shownId });
  }
  if (isWaiting && waiting !== shownId) setWaiting(shownId);
  // Once it is decided, the list is without it before it is read by itself: until then only its id is known.
  const isStillShown = useStillShownCheck(show, wanted ?? shownId);
  return {
    list,
    other,
    shown,
    isOpen: Boolean(wanted),
    /** It ended while the person looked at it. */
    hasEnded: Boolean(shown && !isWaiting && waiting === shownId),
    isStillShown,
    forget: () => setKept(undefined),
  };
}

/** Says later, after an answer was waited for, whether the person still looks at this request in this list. */
export function useStillShownCheck(show: Show, id: string | undefined): () => boolean {
  const place = `${show} ${id}`;
  const shownPlace = useRef("");
  useEffect(() => {
    shownPlace.current = place;
    return () => {
      shownPlace.current = "";
    };
  }, [place]);
  return () => shownPlace.current === place;
}
