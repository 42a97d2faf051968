import { Button, NumberInput, Textarea } from "@mantine/core";
import { useState } from "react";
import { guidePathOf } from "../../api/base";
import { usePermissionCheck } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { ProblemNote, RefusalNote } from "../../shared/patterns/refusal_note";
import { useMissingAccessHint } from "../../shared/states/access";
import { createSubmitHandler } from "../../shared/submit_handler";
import { showToast } from "../../shared/toast/toasts";
import { useFieldProblems } from "../../shared/use_fields";
import { readDomainLines } from "./domains";
import style from "./organization.module.css";
import { type Organization, useOrganizationChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/organization");
const PERMISSION = "notification_channels:write";
const MAX_PER_DAY = 10_000;
const USUAL_PER_DAY = 200;
type Rule = Organization["mail_to_outsiders"];

/** Whether workflows may write to people outside, to which domains and how often. */
export function OutsiderMailSection({ rule }: { rule: Rule }) {
  const mayChange = usePermissionCheck()(PERMISSION);
  const missing = useMissingAccessHint(PERMISSION);
  const [isOpen, setOpen] = useState(false);
  const change = useOrganizationChange();
  // The section is drawn anew with the changed rule, which a callback of `mutate` would not outlive.
  const turnOff = () =>
    change.mutateAsync({ mail_to_outsiders: null }).then(
      () => showToast(say("outsidersOffNow")),
      () => undefined,
    );
  if (isOpen) return <OutsiderForm rule={rule} onClose={() => setOpen(false)} />;
  return (
    <div className={`card ${style.card}`}>
      <p className="t-13 t-2">
        {rule ? say("outsidersOn", { domains: rule.domains.join(", "), count: rule.per_day }) : say("outsidersOff")}{" "}
        <a
          className="inline-link"
          href={guidePathOf("workflows.md#mail-to-people-outside")}
          target="_blank"
          rel="noreferrer"
        >
          {say("outsidersGuide")}
        </a>
      </p>
      <RefusalNote error={change.error} />
      {mayChange ? (
        <div className="row g8">
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            {say(rule ? "changeOutsiders" : "allowOutsiders")}
          </Button>
          {rule && (
            <Button size="xs" variant="default" loading={change.isPending} onClick={() => void turnOff()}>
              {say("turnOff")}
            </Button>
          )}
        </div>
      ) : (
        <p className="t-12 t-3">{missing}</p>
      )}
    </div>
  );
}

function OutsiderForm({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const [text, setText] = useState(rule?.domains.join("\n") ?? "");
  const [perDay, setPerDay] = useState<number | undefined>(rule?.per_day ?? USUAL_PER_DAY);
  const change = useOrganizationChange();
  const { form, rest, problemOf } = useFieldProblems(change.error, [
    "mail_to_outsiders.domains",
    "mail_to_outsiders.per_day",
  ]);
  const domains = readDomainLines(text);
  const save = async () => {
    if (!perDay) return;
    await change.mutateAsync({ mail_to_outsiders: { domains, per_day: perDay } });
    showToast(say("outsidersSaved"));
    onClose();
  };
  return (
    <form ref={form} className={`card ${style.card}`} onSubmit={createSubmitHandler(save)}>
      <ProblemNote>{rest}</ProblemNote>
      <Textarea
        className={style.field}
        label={say("domains")}
        description={say("domainsHint")}
        error={problemOf("mail_to_outsiders.domains")}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <NumberInput
        label={say("perDay")}
        description={say("perDayHint")}
        error={problemOf("mail_to_outsiders.per_day")}
        w={200}
        min={1}
        max={MAX_PER_DAY}
        allowDecimal={false}
        value={perDay ?? ""}
        onChange={(value) => setPerDay(typeof value === "number" ? value : undefined)}
      />
      <div className="row g8">
        <Button type="submit" size="xs" loading={change.isPending} disabled={!domains.length || !perDay}>
          {say("saveOutsiders")}
        </Button>
        <Button size="xs" variant="default" onClick={onClose}>
          {say("cancel")}
        </Button>
      </div>
    </form>
  );
}
