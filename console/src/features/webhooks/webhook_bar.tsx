import RotateCw from "icon:rotate-cw";
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { ConfirmByNameDialog } from "../../shared/confirm_by_name";
import { PageBar } from "../../shared/frame/bar";
import { usePageCommands } from "../../shared/frame/commands";
import { createTranslator } from "../../shared/i18n/words";
import { showToast } from "../../shared/toast/toasts";
import {
  deleteWebhook,
  deliveryCountQuery,
  type OutgoingWebhook,
  testWebhook,
  useWebhookChange,
  type WebhookSecret,
  webhookNameOf,
} from "./queries";
import { ReplayDialog } from "./replay_dialog";
import { RotateSecretDialog } from "./rotate_secret";
import { WebhookSecretDialog } from "./shown_secret";
import { WebhookForm } from "./webhook_form";
import { WebhookState } from "./webhook_state";
import { WebhookSwitch } from "./webhook_switch";
import en from "./words.en.json";

const say = createTranslator(en, "features/webhooks");
type Dialog = "change" | "delete" | "replay" | "rotate";

/** The first event that is no pattern; a receiver of patterns alone gets a test event. */
const findTestEvent = ({ events }: OutgoingWebhook) => events.find((name) => !name.endsWith("*")) ?? "system.test";

type Props = { id: string; webhook?: OutgoingWebhook; hasFailed: boolean };

/** The bar of one receiver: how it stands, and what can be done with all that was sent to it. */
export function WebhookBar({ id, webhook, hasFailed }: Props) {
  const mayWrite = usePermissionCheck()("webhooks:write");
  return (
    <PageBar
      trail={[{ label: say("title"), to: "/webhooks" }]}
      title={webhook ? webhookNameOf(webhook) : hasFailed ? id : "…"}
      isThere={Boolean(webhook)}
      after={
        webhook && (
          <span className="wide">
            <WebhookState webhook={webhook} />
          </span>
        )
      }
    >
      {webhook && mayWrite && <WebhookActions webhook={webhook} />}
    </PageBar>
  );
}

function WebhookActions({ webhook }: { webhook: OutgoingWebhook }) {
  const [dialog, setDialog] = useState<Dialog>();
  const [secret, setSecret] = useState<WebhookSecret>();
  const { data: failed = 0 } = useQuery(deliveryCountQuery(webhook.id, "failed"));
  const test = useWebhookChange(testWebhook);
  const sendTest = () =>
    test.mutate(
      { id: webhook.id, eventType: findTestEvent(webhook) },
      {
        onSuccess: ({ message }) => showToast(message),
        onError: (error) => showToast(asApiError(error).message),
      },
    );
  const closeDialog = () => setDialog(undefined);
  const mayReplay = failed > 0 && webhook.active;
  usePageCommands(
    mayReplay ? [{ label: say("replay", { count: failed }), keys: "shift+r", run: () => setDialog("replay") }] : [],
  );
  return (
    <>
      <WebhookSwitch webhook={webhook} />
      <span className="wide">
        <Button variant="default" loading={test.isPending} onClick={sendTest}>
          {say("sendTest")}
        </Button>
      </span>
      {mayReplay && (
        <Button leftSection={<RotateCw size={14} />} onClick={() => setDialog("replay")}>
          {say("replay", { count: failed })}
        </Button>
      )}
      <ActionsMenu label={say("more")}>
        <Menu.Item onClick={() => setDialog("change")}>{say("change")}</Menu.Item>
        <Menu.Item onClick={() => setDialog("rotate")}>{say("rotate")}</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog("delete")}>
          {say("delete")}
        </Menu.Item>
      </ActionsMenu>
      {dialog === "change" && <WebhookForm of={webhook} onClose={closeDialog} />}
      {dialog === "replay" && <ReplayDialog webhook={webhook} onClose={closeDialog} />}
      {dialog === "rotate" && <RotateSecretDialog webhook={webhook} onMade={setSecret} onClose={closeDialog} />}
      {dialog === "delete" && <DeleteWebhookDialog webhook={webhook} onClose={closeDialog} />}
      {secret && <WebhookSecretDialog shown={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

function DeleteWebhookDialog({ webhook, onClose }: { webhook: OutgoingWebhook; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useWebhookChange(deleteWebhook);
  const name = webhookNameOf(webhook);
  return (
    <ConfirmByNameDialog
      title={say("deleteTitle", { name })}
      name={name}
      label={say("typeName", { name })}
      action={say("delete")}
      problem={remove.error ? asApiError(remove.error).message : undefined}
      isBusy={remove.isPending}
      onConfirm={async () => {
        await remove.mutateAsync(webhook.id);
        await navigate({ to: "/webhooks", replace: true });
      }}
      onClose={onClose}
    >
      {say("deleteText")}
    </ConfirmByNameDialog>
  );
}
