import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { createTranslator } from "../../shared/i18n/words";
import { SidePanel } from "../../shared/patterns/side_panel";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { ChannelDetails } from "./channel_details";
import { ChannelEditor } from "./channel_editor";
import { ChannelTypeIcon } from "./channel_icon";
import { describeChannelKind } from "./channel_words";
import { DeleteChannelDialog } from "./delete_channel";
import { channelProvidersQuery, channelQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type ChannelPanelProps = { id: string; onClose: () => void };

/** One channel beside the list: what is wrong with it, how it is set, and what it sent. */
export default function ChannelPanel({ id, onClose }: ChannelPanelProps) {
  const read = useQuery(channelQuery(id));
  const providers = useQuery(channelProvidersQuery);
  const mayWrite = usePermissionCheck()("notification_channels:write");
  const [isDeleting, setDeleting] = useState(false);
  const channel = read.data;
  const provider = providers.data?.find((one) => one.id === channel?.provider);
  const error = read.error ?? providers.error;
  const frame = {
    label: channel?.name ?? say("title"),
    title: channel?.name ?? "…",
    subtitle: channel && describeChannelKind(channel),
    icon: channel && <ChannelTypeIcon type={channel.type} small />,
    onClose,
  };
  if (!channel || !providers.data)
    return (
      <SidePanel {...frame}>
        {error ? (
          <FailureState error={error} onRetry={() => void (read.error ? read : providers).refetch()} />
        ) : (
          <RowSkeletons rows={5} columns={[90, 200]} />
        )}
      </SidePanel>
    );
  if (!mayWrite || !provider)
    return (
      <SidePanel {...frame}>
        <ChannelDetails channel={channel} provider={provider} />
      </SidePanel>
    );
  return (
    <>
      <ChannelEditor
        channel={channel}
        provider={provider}
        isDeleting={isDeleting}
        frame={{
          ...frame,
          actions: (
            <ActionsMenu label={say("more")}>
              <Menu.Item color="red" onClick={() => setDeleting(true)}>
                {say("delete")}
              </Menu.Item>
            </ActionsMenu>
          ),
        }}
      />
      {isDeleting && <DeleteChannelDialog channel={channel} onDeleted={onClose} onClose={() => setDeleting(false)} />}
    </>
  );
}
