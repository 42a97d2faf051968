import { Button, Modal, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePermissionCheck } from "../../../api/queries";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { SecretInput } from "../../../shared/secret_input";
import { createSubmitHandler } from "../../../shared/submit_handler";
import { useFieldProblems } from "../../../shared/use_fields";
import en from "../words.en.json";
import {
  createIncoming,
  type IncomingWebhook,
  startableWorkflowsQuery,
  updateIncoming,
  useIncomingChange,
  type VerificationName,
} from "./queries";

const say = createTranslator(en, "features/webhooks");
const FIELDS = ["name", "slug", "verification.secret", "verification.header", "workflow_id", "dedupe_header"] as const;
const VERIFICATIONS: VerificationName[] = [
  "none",
  "hmac_sha256",
  "github",
  "stripe",
  "slack",
  "standard_webhooks",
  "token",
];
const WITH_HEADER: VerificationName[] = ["hmac_sha256", "token"];

type Verification = { type: VerificationName; header: string; secret: string };
type Field = (typeof FIELDS)[number];

const toSentVerification = ({ type, header, secret }: Verification) => ({
  type,
  ...(WITH_HEADER.includes(type) && header ? { header } : {}),
  ...(secret && type !== "none" ? { secret } : {}),
});

type Props = { of?: IncomingWebhook; onMade?: (id: string) => void; onClose: () => void };

/** A new address for payloads of others, which is opened once it is there, or changes of one. */
export function IncomingForm({ of: hook, onMade, onClose }: Props) {
  const [name, setName] = useState(hook?.name ?? "");
  const [slug, setSlug] = useState(hook?.slug ?? "");
  const [verification, setVerification] = useState<Verification>({
    type: hook?.verification.type ?? "none",
    header: hook?.verification.header ?? "",
    secret: "",
  });
  const { type, secret } = verification;
  const [workflow, setWorkflow] = useState<string | null>(hook?.workflow_id ?? null);
  const mayReadWorkflows = usePermissionCheck()("workflows:read");
  const workflows = useQuery({ ...startableWorkflowsQuery, enabled: mayReadWorkflows });
  const keepsSecret = hook?.verification.has_secret && hook.verification.type === type;
  const save = useIncomingChange(async () => {
    const sent = { name: name.trim(), workflow_id: workflow, verification: toSentVerification(verification) };
    const body = { ...sent, ...(slug ? { slug } : {}) };
    if (hook) await updateIncoming({ id: hook.id, ...body });
    else onMade?.((await createIncoming({ active: true, ...body })).id);
  });
  const { form, rest, problemOf } = useFieldProblems(save.error, FIELDS);
  const isReady = Boolean(name.trim()) && (type === "none" || Boolean(secret) || keepsSecret);
  return (
    <Modal
      opened
      onClose={onClose}
      title={hook ? say("changeTitle", { name: hook.name }) : say("addIncoming")}
      size={520}
    >
      <form
        className="stack g16"
        ref={form}
        onSubmit={createSubmitHandler(() => save.mutateAsync(undefined).then(() => hook && onClose()))}
      >
        <ProblemNote>{rest}</ProblemNote>
        <TextInput
          label={say("name")}
          maxLength={100}
          data-autofocus
          error={problemOf("name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label={say("slug")}
          description={say(hook ? "slugChangeHint" : "slugHint")}
          maxLength={63}
          error={problemOf("slug")}
          value={slug}
          onChange={(event) => setSlug(event.currentTarget.value)}
        />
        <VerificationFields
          {...verification}
          keepsSecret={Boolean(keepsSecret)}
          problemOf={problemOf}
          onChange={(change) => setVerification({ ...verification, ...change })}
        />
        {mayReadWorkflows && (
          <Select
            label={say("startsWorkflow")}
            description={say("startsWorkflowHint")}
            clearable
            searchable
            error={problemOf("workflow_id")}
            data={workflows.data ?? []}
            value={workflow}
            onChange={setWorkflow}
          />
        )}
        <div className="row g8 wrap">
          <Button variant="default" className="push" onClick={onClose}>
            {general("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!isReady}>
            {say(hook ? "save" : "create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

type VerificationProps = Verification & {
  keepsSecret: boolean;
  problemOf: (field: Field) => string | undefined;
  onChange: (change: Partial<Verification>) => void;
};

/** How payloads prove whom they come from. */
function VerificationFields({ type, header, secret, keepsSecret, problemOf, onChange }: VerificationProps) {
  return (
    <>
      <Select
        label={say("verification")}
        description={say("verificationHint")}
        allowDeselect={false}
        data={VERIFICATIONS.map((value) => ({ value, label: say(`verify_${value}`) }))}
        value={type}
        onChange={(value) => onChange({ type: VERIFICATIONS.find((one) => one === value) ?? "none" })}
      />
      {WITH_HEADER.includes(type) && (
        <TextInput
          label={say("signatureHeader")}
          error={problemOf("verification.header")}
          placeholder={type === "token" ? "X-Webhook-Token" : "X-Signature"}
          value={header}
          onChange={(event) => onChange({ header: event.currentTarget.value })}
        />
      )}
      {type !== "none" && (
        <SecretInput
          label={say("sharedSecret")}
          description={keepsSecret ? say("secretStays") : undefined}
          autoComplete="off"
          error={problemOf("verification.secret")}
          value={secret}
          onChange={(event) => onChange({ secret: event.currentTarget.value })}
        />
      )}
    </>
  );
}
