import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { createTranslator } from "../../shared/i18n/words";
import { channelUsersQuery, type DeliveryChannel, deleteChannel, useChannelChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const USER_KINDS = ["workflows", "forms", "subscriptions"] as const;

type DeleteChannelProps = { channel: DeliveryChannel; onDeleted: () => void; onClose: () => void };

/** Names what sends through the channel before it is deleted. */
export function DeleteChannelDialog({ channel, onDeleted, onClose }: DeleteChannelProps) {
  const users = useQuery(channelUsersQuery(channel.id));
  const remove = useChannelChange(deleteChannel);
  const named = USER_KINDS.flatMap((kind) => {
    const names = users.data?.[kind]?.map(({ name }) => name) ?? [];
    return names.length ? [say(`used_${kind}`, { count: names.length, names: names.join(", ") })] : [];
  });
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name: channel.name })}
      name={channel.name}
      label={say("typeName", { name: channel.name })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : users.error?.message}
      isBusy={remove.isPending || users.isPending}
      onConfirm={async () => {
        await remove.mutateAsync(channel.id);
        onDeleted();
      }}
      onClose={onClose}
    >
      {say("deleteText")} {users.data && (named.length ? say("deleteUsed", { list: named.join("; ") }) : say("unused"))}
    </ConfirmByNameDialog>
  );
}
