import MessageSquarePlus from "icon:message-square-plus";
import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asApiError } from "../../../api/errors";
import { createTranslator } from "../../../shared/i18n/words";
import { usePersonName } from "../../../shared/people/names";
import type { ChatAgent } from "../chat_agents";
import style from "./composer.module.css";
import { copySharedConversation } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat/thread");

type Props = {
  agent: ChatAgent;
  conversationId: string;
  /** Whose conversation it is; null for a visitor's. */
  ownerId: string | null;
  onConversation: (conversationId: string) => void;
};

/** In place of the field where one only reads: the way to a conversation of one's own. */
export function ReaderFoot({ agent, conversationId, ownerId, onConversation }: Props) {
  const client = useQueryClient();
  const owner = usePersonName(ownerId ?? "");
  const copy = useMutation({
    mutationFn: () => copySharedConversation(conversationId),
    onSuccess: (conversation) => {
      void client.invalidateQueries({ queryKey: ["chat", "own"] });
      onConversation(conversation.id);
    },
  });
  return (
    <div className={style.dock}>
      <div className={style.reader}>
        <span className="grow t-13" role={copy.error ? "alert" : undefined}>
          {copy.error ? asApiError(copy.error).message : say("onlyRead", { name: agent.name, owner })}
        </span>
        <Button
          size="sm"
          leftSection={<MessageSquarePlus size={15} />}
          loading={copy.isPending}
          onClick={() => copy.mutate()}
        >
          {say("goOnInCopy")}
        </Button>
      </div>
    </div>
  );
}
