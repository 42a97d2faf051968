import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrapData } from "../../api/client";

export const conversationPath = (id: string) => ({ params: { path: { conversation_id: id } } });

export const renameConversation = ({ id, title }: { id: string; title: string }) =>
  unwrapData(api.PATCH("/api/v1/conversations/{conversation_id}", { ...conversationPath(id), body: { title } }));

/** A change of a conversation; everything that shows it is read again. */
export function useConversationChange<Input, Output>(change: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(input),
    onSuccess: () => client.invalidateQueries({ queryKey: ["chat"] }),
  });
}

/** Deletes a conversation. The page that still shows it does not ask for it again. */
export function useConversationDeletion() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrapData(api.DELETE("/api/v1/conversations/{conversation_id}", conversationPath(id))),
    onSuccess: async (_, id) => {
      await client.invalidateQueries({ queryKey: ["chat", id], refetchType: "none" });
      await client.invalidateQueries({ queryKey: ["chat", "list"] });
    },
  });
}
