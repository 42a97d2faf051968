import { type ComponentProps, lazy, Suspense } from "react";

// Few people rename or delete what they opened: the dialogs come when they are asked for.
const Rename = lazy(() => import("./rename_dialog").then((found) => ({ default: found.RenameDialog })));
const Delete = lazy(() => import("./delete_dialog").then((found) => ({ default: found.DeleteConversationDialog })));

export const LaterRenameDialog = (props: ComponentProps<typeof Rename>) => (
  <Suspense fallback={null}>
    <Rename {...props} />
  </Suspense>
);

export const LaterDeleteConversationDialog = (props: ComponentProps<typeof Delete>) => (
  <Suspense fallback={null}>
    <Delete {...props} />
  </Suspense>
);
