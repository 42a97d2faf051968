import { useState } from "react";
import {
  type ConfigDraft,
  type ConfigField,
  collectConfigChanges,
  hasMissingFields,
  hasWrongHeaders,
} from "./config_draft";
import { type ChannelChanges, type DeliveryChannel, updateChannel, useChannelChange } from "./queries";

/** What somebody changed in the form and has not saved yet. */
export type ChannelEdits = { name?: string; priority?: number; config: ConfigDraft };
const NO_EDITS: ChannelEdits = { config: {} };

/** The form of a channel that is stored. Only what differs is sent, so that the changes of others stay. */
export function useChannelEdits(channel: DeliveryChannel, fields: ConfigField[]) {
  const [edits, setEdits] = useState<ChannelEdits>(NO_EDITS);
  const save = useChannelChange(updateChannel);
  const changes = collectChannelChanges(channel, edits, collectConfigChanges(fields, edits.config, channel.config));
  const isChanged = Object.keys(changes).length > 0;
  const isComplete =
    (edits.name ?? channel.name).trim() !== "" &&
    !hasMissingFields(fields, edits.config, channel.config) &&
    !hasWrongHeaders(fields, edits.config);
  const saveEdits = async () => {
    if (!isChanged || !isComplete) return;
    await save.mutateAsync({ id: channel.id, ...changes });
    setEdits(NO_EDITS);
  };
  const changeEdits = (change: Partial<ChannelEdits>) => setEdits({ ...edits, ...change });
  return { edits, changeEdits, saveEdits, save, isChanged, isComplete };
}

function collectChannelChanges(channel: DeliveryChannel, edits: ChannelEdits, config: ChannelChanges["config"] = {}) {
  const changes: ChannelChanges = {};
  const name = edits.name?.trim();
  if (name && name !== channel.name) changes.name = name;
  if (edits.priority !== undefined && edits.priority !== channel.priority) changes.priority = edits.priority;
  if (Object.keys(config).length) changes.config = config;
  return changes;
}
