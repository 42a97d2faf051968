import UserPlus from "icon:user-round-plus";
import { Button, Popover } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { createTranslator } from "../../../shared/i18n/words";
import en from "./words.en.json";

const SharePopover = lazy(() => import("./share_popover").then((found) => ({ default: found.SharePopover })));
const say = createTranslator(en, "features/chat/thread");

/** Lets others of the organization read a conversation of one's own; stands in the head of the page. */
export function ThreadShareButton({ conversationId }: { conversationId: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!usePermissionCheck()("conversations:write")) return null;
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={348}
      trapFocus
      returnFocus
      withRoles
      shadow="md"
    >
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<UserPlus size={13} />} onClick={() => setOpen(!isOpen)}>
          {say("share")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={<span className="shim" />}>
          {isOpen && <SharePopover conversationId={conversationId} onClose={() => setOpen(false)} />}
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
