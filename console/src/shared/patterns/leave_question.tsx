import { useBlocker } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { general } from "../i18n/general";

const ConfirmDialog = lazy(() => import("../confirm").then((found) => ({ default: found.ConfirmDialog })));

type LeaveWords = { title: string; text: string; action: string };
type LeaveQuestionProps = {
  hasChanges: boolean;
  /** The name in the search part of the address that says what is open, if it is kept there and not in the path. */
  openIn?: string;
  /** What leaving means, if it is something else than that changes are lost. */
  words?: LeaveWords;
};

const readSearchValue = (search: object, name: string | undefined): unknown =>
  name && (search as Record<string, unknown>)[name];

/**
 * Asks before somebody leaves what was entered and not saved; closing the tab asks as well. Who navigates because it was
 * saved passes `ignoreBlocker`: the changes are still there at that moment.
 */
export function LeaveQuestion({ hasChanges, openIn, words }: LeaveQuestionProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      hasChanges &&
      (current.pathname !== next.pathname ||
        readSearchValue(current.search, openIn) !== readSearchValue(next.search, openIn)),
    enableBeforeUnload: hasChanges,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Suspense fallback={null}>
      <ConfirmDialog
        title={words?.title ?? general("leaveTitle")}
        action={words?.action ?? general("leave")}
        onConfirm={blocker.proceed}
        onClose={blocker.reset}
      >
        {words?.text ?? general("leaveText")}
      </ConfirmDialog>
    </Suspense>
  );
}
