import ExternalLink from "icon:external-link";
import Globe from "icon:globe";
import UsersRound from "icon:users-round";
import { Button, NumberInput, Radio, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { LeaveQuestion } from "../../shared/patterns/leave_question";
import { useMissingAccessHint } from "../../shared/states/access";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { useFieldProblems } from "../../shared/use_fields";
import { PageUsage } from "./page_usage";
import { closeHostedPage, type HostedPage, hostedPageQuery, saveHostedPage, useEmbedChange } from "./queries";
import style from "./share.module.css";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");

/** The page that an agent can be handed out by: whether it answers, where, to whom and how much. */
export function HostedSegment({ agentId }: { agentId: string }) {
  const page = useQuery(hostedPageQuery(agentId));
  if (page.error) return <FailureState error={page.error} onRetry={() => void page.refetch()} />;
  if (!page.data) return <RowSkeletons columns={[30, 300]} />;
  return <HostedPageForm key={`${page.data.is_open}`} agentId={agentId} page={page.data} />;
}

const FIELDS = ["slug", "monthly_token_budget", "rate_limit_per_visitor"] as const;
type PageField = (typeof FIELDS)[number];
type Draft = {
  slug: string;
  audience: "public" | "members";
  budget: number | undefined;
  perVisitor: number | undefined;
  files: boolean;
};

const createDraft = ({ slug, audience, limits }: HostedPage): Draft => ({
  slug,
  audience,
  budget: limits?.monthly_token_budget ?? undefined,
  perVisitor: limits?.rate_limit_per_visitor ?? 10,
  files: limits?.allow_attachments ?? true,
});

const toUpdate = ({ slug, audience, budget, perVisitor, files }: Draft) => ({
  slug,
  audience,
  ...(audience === "public" && {
    ...(budget && { monthly_token_budget: budget }),
    ...(perVisitor && { rate_limit_per_visitor: perVisitor }),
    allow_attachments: files,
  }),
});

function HostedPageForm({ agentId, page }: { agentId: string; page: HostedPage }) {
  const mayWrite = usePermissionCheck()("embed_keys:write");
  const needs = useMissingAccessHint("embed_keys:write");
  const [draft, setDraft] = useState(() => createDraft(page));
  const save = useEmbedChange(agentId, (body: Draft) => saveHostedPage(agentId, toUpdate(body)));
  const close = useEmbedChange(agentId, () => closeHostedPage(agentId));
  const { form, rest, problemOf } = useFieldProblems<PageField, HTMLElement>(save.error, FIELDS);
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const isChanged = JSON.stringify(draft) !== JSON.stringify(createDraft(page));
  const failed = close.error ? asApiError(close.error).message : rest;
  return (
    <section ref={form} className="stack g20" aria-label={say("hostedPage")}>
      <div className="row g12 top">
        <div className="stack grow">
          <h2 className="t-sec">{say("hostedPage")}</h2>
          <span className="t-13 t-2">{say("hostedText")}</span>
        </div>
        <Switch
          aria-label={say("hostedPage")}
          checked={page.is_open}
          disabled={!mayWrite || save.isPending || close.isPending}
          onChange={(event) => (event.currentTarget.checked ? save.mutate(draft) : close.mutate(undefined))}
        />
      </div>
      {!mayWrite && <div className="note">{needs}</div>}
      {failed && (
        <div className="note bad" role="alert">
          {failed}
        </div>
      )}
      <PageAddress page={page} />
      <TextInput
        label={say("slug")}
        description={say("slugHint")}
        maxLength={60}
        disabled={!mayWrite}
        value={draft.slug}
        error={problemOf("slug")}
        onChange={(event) => change({ slug: event.currentTarget.value.toLowerCase() })}
      />
      <AudienceChoice value={draft.audience} isDisabled={!mayWrite} onChange={(audience) => change({ audience })} />
      {draft.audience === "public" && (
        <PageLimits draft={draft} page={page} isDisabled={!mayWrite} problemOf={problemOf} onChange={change} />
      )}
      {mayWrite && page.is_open && (
        <div className="row g8">
          <LeaveQuestion hasChanges={isChanged} />
          <Button disabled={!isChanged} loading={save.isPending} onClick={() => save.mutate(draft)}>
            {say("savePage")}
          </Button>
          <span className="t-12 t-3" role="status">
            {isChanged ? say("unsaved") : save.isSuccess ? say("pageSaved") : ""}
          </span>
        </div>
      )}
    </section>
  );
}

function PageAddress({ page }: { page: HostedPage }) {
  if (!page.is_open) return <p className="t-13 t-2">{say("pageOff")}</p>;
  return (
    <div className={style.link}>
      <a href={page.qr_code_url} download={`${page.slug}.svg`} title={say("qrDownload")}>
        <img className={style.qr} src={page.qr_code_url} alt={say("qrOf", { address: page.address })} />
      </a>
      <div className="stack g8 grow">
        <CopyableCode label={say("address")} text={page.address} />
        <div className="row g8 wrap">
          <Button
            size="xs"
            variant="default"
            component="a"
            href={page.address}
            target="_blank"
            rel="noopener"
            rightSection={<ExternalLink size={13} />}
          >
            {say("openPage")}
          </Button>
          <span className="t-12 t-3">
            {say("pageFigures", { opened: page.figures.opened, chats: page.figures.chats })}
          </span>
        </div>
      </div>
    </div>
  );
}

type ChoiceProps = { value: Draft["audience"]; isDisabled: boolean; onChange: (audience: Draft["audience"]) => void };

function AudienceChoice({ value, isDisabled, onChange }: ChoiceProps) {
  const ways = [
    { audience: "public", icon: Globe },
    { audience: "members", icon: UsersRound },
  ] as const;
  return (
    <Radio.Group label={say("whoMayChat")} value={value} onChange={(chosen) => onChange(chosen as Draft["audience"])}>
      <div className={style.ways}>
        {ways.map(({ audience, icon: Icon }) => (
          <Radio.Card key={audience} value={audience} className={style.way} disabled={isDisabled}>
            <Icon size={16} aria-hidden />
            <span className="stack">
              <b className="t-500">{say(audience)}</b>
              <span className="t-12 t-2">{say(`${audience}Hint`)}</span>
            </span>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  );
}

type LimitProps = {
  draft: Draft;
  page: HostedPage;
  isDisabled: boolean;
  problemOf: (field: PageField) => string | undefined;
  onChange: (part: Partial<Draft>) => void;
};

function PageLimits({ draft, page, isDisabled, problemOf, onChange }: LimitProps) {
  return (
    <div className="stack g12">
      <h3 className="t-sec">{say("limits")}</h3>
      <div className={style.ways}>
        <NumberInput
          label={say("perVisitor")}
          description={say("perVisitorHint")}
          min={1}
          disabled={isDisabled}
          value={draft.perVisitor ?? ""}
          error={problemOf("rate_limit_per_visitor")}
          onChange={(value) => onChange({ perVisitor: Number(value) || undefined })}
        />
        <NumberInput
          label={say("budget")}
          description={say("budgetHint")}
          min={1}
          step={100_000}
          thousandSeparator
          required
          disabled={isDisabled}
          value={draft.budget ?? ""}
          error={problemOf("monthly_token_budget")}
          onChange={(value) => onChange({ budget: Number(value) || undefined })}
        />
      </div>
      {page.is_open && <PageUsage page={page} />}
      <Switch
        label={say("takesFiles")}
        disabled={isDisabled}
        checked={draft.files}
        onChange={(event) => onChange({ files: event.currentTarget.checked })}
      />
    </div>
  );
}
