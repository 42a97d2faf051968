import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePermissionCheck } from "../../../../api/queries";
import type { components } from "../../../../api/schema";
import { createTranslator } from "../../../../shared/i18n/words";
import { KindIcon } from "../../../../shared/marks/kind_icon";
import { useMissingAccessHint } from "../../../../shared/states/access";
import { attachableCredentialsQuery } from "../../queries";
import en from "../../words.en.json";
import type { Edits, Snapshot, WebSearch } from "../draft";
import style from "../draft.module.css";
import { DraftSection } from "../section";

const say = createTranslator(en, "features/agents");
type Knowledge = components["schemas"]["KnowledgeOfAgent"];
type Props = {
  agentId: string;
  knowledge: Knowledge;
  draft: Snapshot;
  isReadOnly: boolean;
  onChange: (edits: Edits) => void;
};

/** The engines of the server, what each needs, and whether it can leave out adult content. */
const ENGINES: Record<string, { title: string; needs: ("key" | "address")[]; hasSafeSearch: boolean }> = {
  duckduckgo: { title: "DuckDuckGo", needs: [], hasSafeSearch: true },
  brave: { title: "Brave Search", needs: ["key"], hasSafeSearch: true },
  google_pse: { title: "Google Programmable Search", needs: ["key"], hasSafeSearch: true },
  searxng: { title: "SearXNG", needs: ["address"], hasSafeSearch: true },
  serper: { title: "Serper", needs: ["key"], hasSafeSearch: false },
  tavily: { title: "Tavily", needs: ["key"], hasSafeSearch: false },
};
const engineNameOf = (engine: string) => (engine === "google" ? "google_pse" : engine);

/** "Knows": its documents, which have a page of their own, and the web. */
export function KnowledgeSection({ agentId, knowledge, draft, isReadOnly, onChange }: Props) {
  const search = draft.web_search as unknown as WebSearch;
  const changeSearch = (change: Partial<WebSearch>) =>
    onChange({ web_search: { ...search, ...change } as unknown as Snapshot["web_search"] });
  const title = ENGINES[engineNameOf(search.search_engine)]?.title ?? search.search_engine;
  return (
    <DraftSection title={say("knows")}>
      <ul className={style.rows} aria-label={say("knows")}>
        <li>
          <div className={style.rowLine}>
            <KindIcon kind="know" small />
            <Link className="t-500" to="/agents/$agentId/knowledge" params={{ agentId }}>
              {say("documents")}
            </Link>
            <span className="t-12 t-3 cut">
              {knowledge.document_count
                ? say("documentCount", { count: knowledge.document_count, passages: knowledge.chunk_count })
                : say("noDocuments")}
            </span>
          </div>
        </li>
        <li>
          <div className={style.rowLine}>
            <KindIcon kind="know" small />
            <span className="t-500 fix">{say("webSearch")}</span>
            <span className="t-12 t-3 cut grow">{search.enabled ? title : say("off")}</span>
            <Switch
              aria-label={say("webSearch")}
              disabled={isReadOnly}
              checked={search.enabled}
              onChange={(event) => changeSearch({ enabled: event.currentTarget.checked })}
            />
          </div>
          {search.enabled && <WebSearchConfig search={search} isReadOnly={isReadOnly} onChange={changeSearch} />}
        </li>
      </ul>
    </DraftSection>
  );
}

type ConfigProps = { search: WebSearch; isReadOnly: boolean; onChange: (change: Partial<WebSearch>) => void };

function WebSearchConfig({ search, isReadOnly, onChange }: ConfigProps) {
  const engine = engineNameOf(search.search_engine);
  const { needs = [], hasSafeSearch = true } = ENGINES[engine] ?? {};
  const data = Object.entries(ENGINES).map(([value, { title }]) => ({ value, label: title }));
  return (
    <div className={style.config}>
      <Select
        label={say("engine")}
        disabled={isReadOnly}
        data={ENGINES[engine] ? data : [...data, { value: engine, label: engine }]}
        value={engine}
        onChange={(value) => value && onChange({ search_engine: value })}
      />
      <NumberInput
        label={say("maxResults")}
        disabled={isReadOnly}
        min={1}
        max={20}
        clampBehavior="strict"
        value={search.max_results}
        onChange={(value) => typeof value === "number" && value >= 1 && onChange({ max_results: value })}
      />
      {(needs.length > 0 || search.credential_id) && (
        <CredentialSelect value={search.credential_id} isReadOnly={isReadOnly} onChange={onChange} />
      )}
      {needs.includes("address") && (
        <TextInput
          label={say("baseUrl")}
          disabled={isReadOnly}
          placeholder="https://search.example.com"
          value={search.base_url ?? ""}
          onChange={(event) => onChange({ base_url: event.currentTarget.value || null })}
        />
      )}
      <DomainsInput name="allowed_domains" search={search} isReadOnly={isReadOnly} onChange={onChange} />
      <DomainsInput name="blocked_domains" search={search} isReadOnly={isReadOnly} onChange={onChange} />
      {hasSafeSearch && (
        <Switch
          label={say("safeSearch")}
          disabled={isReadOnly}
          checked={search.safe_search}
          onChange={(event) => onChange({ safe_search: event.currentTarget.checked })}
        />
      )}
      <Switch
        label={say("readPages")}
        disabled={isReadOnly}
        checked={search.read_pages ?? true}
        onChange={(event) => onChange({ read_pages: event.currentTarget.checked })}
      />
    </div>
  );
}

type CredentialProps = { value: string | null } & Omit<ConfigProps, "search">;

function CredentialSelect({ value, isReadOnly, onChange }: CredentialProps) {
  const may = usePermissionCheck();
  const canList = may("credentials:read");
  const needs = useMissingAccessHint("credentials:read");
  const { data } = useQuery({ ...attachableCredentialsQuery, enabled: canList });
  const choices = (data?.data ?? []).map((one) => ({ value: one.id, label: one.name }));
  const isListed = !value || choices.some((one) => one.value === value);
  return (
    <Select
      label={say("credential")}
      description={canList ? undefined : needs}
      disabled={isReadOnly || !canList}
      clearable
      searchable
      placeholder={say("noCredential")}
      data={isListed ? choices : [...choices, { value: value ?? "", label: value ?? "" }]}
      value={value}
      onChange={(credential_id) => onChange({ credential_id })}
    />
  );
}

type DomainProps = { name: "allowed_domains" | "blocked_domains" } & ConfigProps;

/** Domains are typed with commas between them, and taken over when the field is left. */
function DomainsInput({ name, search, isReadOnly, onChange }: DomainProps) {
  const [typed, setTyped] = useState<string>();
  const takeDomains = () => {
    if (typed === undefined) return;
    onChange({ [name]: typed.split(/[\s,;]+/).filter(Boolean) });
    setTyped(undefined);
  };
  return (
    <TextInput
      label={say(name)}
      disabled={isReadOnly}
      placeholder="example.com, example.org"
      value={typed ?? search[name].join(", ")}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={takeDomains}
      onKeyDown={(event) => event.key === "Enter" && takeDomains()}
    />
  );
}
