import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { PageBar } from "../../shared/frame/bar";
import { createTranslator } from "../../shared/i18n/words";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { ProblemNote } from "../../shared/patterns/refusal_note";
import { Sheet, SheetSection } from "../../shared/patterns/sheet";
import { PermissionGate } from "../../shared/states/permission_gate";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { useFieldProblems } from "../../shared/use_fields";
import style from "./channel_form.module.css";
import { channelProviderNameOf, describeProvider } from "./channel_words";
import {
  type ConfigDraft,
  collectConfigChanges,
  hasMissingFields,
  hasWrongHeaders,
  listConfigFields,
} from "./config_draft";
import { ConfigInputs } from "./config_inputs";
import { PriorityInput } from "./priority_input";
import { ProviderChoice } from "./provider_offers";
import { type ChannelProvider, channelProvidersQuery, createChannel, useChannelChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");
const OWN_FIELDS = ["name", "priority", "credential_id", "config"] as const;

/** A new channel: first by which provider, then what that one needs to know. */
export default function NewChannelPage() {
  const { provider: chosen } = useSearch({ from: "/frame/channels/new" });
  return (
    <>
      <PageBar trail={[{ label: say("title"), to: "/channels" }]} title={say("add")} isThere={false} />
      <PermissionGate permission="notification_channels:write">
        <NewChannelSheet chosen={chosen} />
      </PermissionGate>
    </>
  );
}

function NewChannelSheet({ chosen }: { chosen?: string }) {
  const providers = useQuery(channelProvidersQuery);
  const provider = providers.data?.find(({ id }) => id === chosen);
  return (
    <Sheet width={760}>
      {providers.error && <FailureState error={providers.error} onRetry={() => void providers.refetch()} />}
      {!providers.error && !providers.data && <RowSkeletons rows={4} columns={[200, 300]} />}
      {providers.data && !provider && <ProviderChoice providers={providers.data} />}
      {provider && <NewChannelForm key={provider.id} provider={provider} />}
    </Sheet>
  );
}

function NewChannelForm({ provider }: { provider: ChannelProvider }) {
  const navigate = useNavigate();
  const fields = listConfigFields(provider);
  const [name, setName] = useState(channelProviderNameOf(provider));
  const [config, setConfig] = useState<ConfigDraft>({});
  const [priority, setPriority] = useState(0);
  const create = useChannelChange(createChannel);
  const { form, rest, problemOf } = useFieldProblems(create.error, [...OWN_FIELDS, ...fields.map((one) => one.name)]);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(
      {
        name: name.trim(),
        type: provider.type,
        provider: provider.id,
        config: collectConfigChanges(fields, config),
        priority,
        active: true,
      },
      { onSuccess: ({ id }) => void navigate({ to: "/channels", search: { id }, replace: true, ignoreBlocker: true }) },
    );
  };
  const hasChanges = name !== channelProviderNameOf(provider) || priority !== 0 || Object.keys(config).length > 0;
  const isReady = name.trim() && !hasMissingFields(fields, config) && !hasWrongHeaders(fields, config);
  return (
    <form className={style.column} ref={form} onSubmit={handleSubmit}>
      <LeaveQuestion hasChanges={hasChanges} openIn="provider" />
      <ProblemNote>{rest}</ProblemNote>
      <SheetSection
        title={channelProviderNameOf(provider)}
        note={describeProvider(provider.id)}
        actions={
          <Button size="xs" variant="subtle" renderRoot={(props) => <Link {...props} to="/channels/new" search={{}} />}>
            {say("otherProvider")}
          </Button>
        }
      >
        <div className="stack g16">
          <TextInput
            label={say("name")}
            description={say("nameHint")}
            withAsterisk
            data-autofocus
            maxLength={200}
            error={problemOf("name")}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {fields.length > 0 && (
            <ConfigInputs
              provider={provider.id}
              fields={fields}
              draft={config}
              problemOf={problemOf}
              onChange={setConfig}
            />
          )}
          <PriorityInput value={priority} problem={problemOf("priority")} onChange={setPriority} />
        </div>
      </SheetSection>
      <div className={style.foot}>
        <span className="t-12 t-3 grow">{say("nothingStored")}</span>
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/channels" search={{}} />}>
          {say("cancel")}
        </Button>
        <Button type="submit" loading={create.isPending} disabled={!isReady}>
          {say("create")}
        </Button>
      </div>
    </form>
  );
}
