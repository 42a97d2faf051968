import { Button, Modal } from "@mantine/core";
import { CopyableCode } from "../../shared/code";
import { general } from "../../shared/i18n/general";
import { createTranslator } from "../../shared/i18n/words";
import { RefusalNote } from "../../shared/patterns/refusal_note";
import { issueResetLink, type User, usePeopleChange } from "./queries";
import { fullNameOf } from "./user_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/people");

/** A link to a new password: mailed, or without a mail server shown once, to be handed on. */
export function ResetLinkDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const issue = usePeopleChange(issueResetLink);
  const link = issue.data?.reset_url;
  return (
    <Modal opened onClose={onClose} title={say("resetLinkTitle", { name: fullNameOf(user) })} size={440}>
      <div className="stack g16">
        <RefusalNote error={issue.error} />
        {issue.data ? (
          <>
            <div className="note ok" role="status">
              {say(link ? "linkToHandOn" : "linkMailed", { email: user.email })}
            </div>
            {link && <CopyableCode label={say("resetLinkOf", { email: user.email })} text={link} />}
            <Button className="push" onClick={onClose}>
              {general("close")}
            </Button>
          </>
        ) : (
          <>
            <p className="t-2">{say("resetLinkText", { email: user.email })}</p>
            <div className="row g8">
              <Button variant="default" className="push" onClick={onClose}>
                {general("cancel")}
              </Button>
              <Button loading={issue.isPending} onClick={() => issue.mutate(user.id)}>
                {say("issueLink")}
              </Button>
            </div>
          </>
        )}
      </div>
    </Modal>
  );
}
