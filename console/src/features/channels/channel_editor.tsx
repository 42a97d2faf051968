import { Button, TextInput } from "@mantine/core";
import { type ComponentProps, useId } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { CopyableId } from "../../shared/marks/copyable_id";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { SidePanel } from "../../shared/patterns/side_panel";
import { createSubmitHandler } from "../../shared/submit_handler";
import { useFieldProblems } from "../../shared/use_fields";
import { ChannelFigureRow } from "./channel_figures";
import { ChannelMessages } from "./channel_messages";
import { ChannelSecrets } from "./channel_secrets";
import { ChannelSwitchRow, ChannelTrouble } from "./channel_trouble";
import { listConfigFields } from "./config_draft";
import { ConfigInputs } from "./config_inputs";
import { PriorityInput } from "./priority_input";
import { type ChannelProvider, type DeliveryChannel, testChannel, useChannelChange } from "./queries";
import { ChannelTestResult } from "./test_result";
import { useChannelEdits } from "./use_channel_edits";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const OWN_FIELDS = ["name", "priority", "credential_id", "config"] as const;

type ChannelEditorProps = {
  channel: DeliveryChannel;
  provider: ChannelProvider;
  /** While it is deleted, nothing that was entered is worth a question. */
  isDeleting: boolean;
  frame: Omit<ComponentProps<typeof SidePanel>, "foot" | "children">;
};

/** The panel of somebody who may change the channel. Only what was edited is sent, so that others' changes stay. */
export function ChannelEditor({ channel, provider, isDeleting, frame }: ChannelEditorProps) {
  const formId = useId();
  const fields = listConfigFields(provider);
  const { edits, changeEdits, saveEdits, save, isChanged, isComplete } = useChannelEdits(channel, fields);
  const test = useChannelChange(testChannel);
  const { form, rest, problemOf } = useFieldProblems(save.error, [...OWN_FIELDS, ...fields.map(({ name }) => name)]);
  const sendTest = () => {
    test.reset();
    void saveEdits().then(
      () => test.mutate(channel.id),
      () => undefined,
    );
  };
  return (
    <SidePanel
      {...frame}
      foot={
        <div className="stack grow">
          <ChannelTestResult test={test} type={channel.type} />
          <div className="row g8">
            <Button type="submit" form={formId} size="xs" loading={save.isPending} disabled={!isChanged || !isComplete}>
              {say("save")}
            </Button>
            <Button size="xs" variant="default" loading={test.isPending} disabled={!isComplete} onClick={sendTest}>
              {say(isChanged ? "saveAndTest" : "test")}
            </Button>
          </div>
        </div>
      }
    >
      <LeaveQuestion hasChanges={isChanged && !isDeleting} openIn="id" />
      <ChannelTrouble channel={channel} />
      <ChannelSwitchRow channel={channel} />
      <form id={formId} ref={form} className="stack g16" onSubmit={createSubmitHandler(saveEdits)}>
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("name")}
          error={problemOf("name")}
          maxLength={200}
          value={edits.name ?? channel.name}
          onChange={(event) => changeEdits({ name: event.currentTarget.value })}
        />
        <ConfigInputs
          provider={provider.id}
          fields={fields}
          draft={edits.config}
          config={channel.config}
          problemOf={problemOf}
          onChange={(config) => changeEdits({ config })}
        />
        <PriorityInput
          value={edits.priority ?? channel.priority}
          problem={problemOf("priority")}
          onChange={(priority) => changeEdits({ priority })}
        />
      </form>
      <ChannelSecrets channel={channel} fields={fields} />
      <ChannelFigureRow channelId={channel.id} />
      <ChannelMessages channelId={channel.id} />
      <CopyableId>{channel.id}</CopyableId>
    </SidePanel>
  );
}
