import TriangleAlert from "icon:triangle-alert";
import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { guidePathOf } from "../../api/base";
import { apiUrlOf } from "../../api/client";
import { usePermissionCheck } from "../../api/queries";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { classifyReach, serviceAddressOf } from "./address";
import { embedKeysQuery, hostedPageQuery, snippetQuery } from "./queries";
import { listWebsiteKeys } from "./website_keys";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");
const KINDS = ["script", "inline", "react", "curl"] as const;
type Kind = (typeof KINDS)[number];

const createSnippet = (kind: Kind, base: string, agent: string, key: string): string => {
  const script = `${base}/embed/widget.js`;
  if (kind === "script")
    return `<script src="${script}"\n  data-agent-id="${agent}"\n  data-api-key="${key}" async></script>`;
  if (kind === "inline")
    return `<script src="${script}"></script>\n<div style="height: 600px">\n  <retinue-chat inline agent-id="${agent}" api-key="${key}"></retinue-chat>\n</div>`;
  if (kind === "react")
    return `import { useEffect } from "react";\n\nexport function Chat() {\n  useEffect(() => {\n    if (customElements.get("retinue-chat")) return;\n    const script = document.createElement("script");\n    script.src = "${script}";\n    document.head.append(script);\n  }, []);\n  return (\n    <retinue-chat\n      base-url="${base}"\n      agent-id="${agent}"\n      api-key="${key}"\n    />\n  );\n}`;
  return `curl ${base}/api/v1/public/agents/${agent}/chat \\\n  -H "Authorization: Bearer ${key}" \\\n  -H "Content-Type: application/json" \\\n  -d '{"session_id": "'$(openssl rand -hex 16)'", "message": "Hello"}'`;
};

/** What to put into a page or a program. */
export function SnippetTabs({ agentId, apiKey }: { agentId: string; apiKey: string }) {
  const [kind, setKind] = useState<Kind>("script");
  const served = useQuery(snippetQuery(agentId));
  const base = served.data ? serviceAddressOf(served.data.widget_url) : apiUrlOf("");
  const text = createSnippet(kind, base, agentId, apiKey || "YOUR_EMBED_KEY");
  return (
    <section className="stack g12" aria-label={say("install")}>
      <h2 className="t-sec">{say("install")}</h2>
      <SegmentedControl
        aria-label={say("install")}
        data={KINDS.map((value) => ({ value: value as string, label: say(value) }))}
        value={kind}
        onChange={(chosen) => setKind(chosen as Kind)}
      />
      {served.data && <AddressWarning address={base} />}
      <CopyableCode label={say("snippetOf", { kind: say(kind) })} text={text} />
      {!apiKey && <MissingKeyNote agentId={agentId} />}
    </section>
  );
}

/** Where the key in the snippet comes from: a key is stored as a hash, so an existing one is rotated. */
function MissingKeyNote({ agentId }: { agentId: string }) {
  const mayRead = usePermissionCheck()("embed_keys:read");
  const keys = useQuery({ ...embedKeysQuery(agentId), enabled: mayRead }).data?.data ?? [];
  const { data: page } = useQuery({ ...hostedPageQuery(agentId), enabled: mayRead });
  const first = page && listWebsiteKeys(keys, page.embed_key_id)[0];
  return <p className="t-12 t-2">{first ? say("keyAgain", { prefix: `${first.key_prefix}…` }) : say("putKey")}</p>;
}

/** Says before the snippet is copied that visitors cannot load what it names, and what to set. */
function AddressWarning({ address }: { address: string }) {
  const reach = classifyReach(address);
  if (reach === "public") return null;
  const proposed = classifyReach(location.origin) === "public" ? location.origin : "https://retinue.example.com";
  return (
    <div className="note warn" role="status">
      <TriangleAlert size={15} />
      <span className="stack g4">
        <span>{say(reach, { address })}</span>
        <span>
          {say("setAddress")} <code className="mono">RETINUE_BASE_URL={proposed}</code>{" "}
          <a className="link" href={guidePathOf("operating.md#behind-a-proxy")} target="_blank" rel="noreferrer">
            {say("addressGuide")}
          </a>
        </span>
      </span>
    </div>
  );
}
