import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { StatusLabel } from "../../shared/marks/status";
import { FailureState } from "../../shared/states/states";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { findSeenPlace, isValidDomain } from "./domains";
import { installationsQuery } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/embed");

/** Where browsers have loaded the widget. No page is fetched: a visit is the proof. */
export function InstallationList({ agentId }: { agentId: string }) {
  const list = useQuery(installationsQuery(agentId));
  const [domain, setDomain] = useState("");
  const [asked, setAsked] = useState("");
  const seen = list.data?.data ?? [];
  const found = asked ? findSeenPlace(seen, asked) : undefined;
  const outcome = !found ? "notInstalled" : found.is_refused ? "refused" : "isInstalled";
  const isWrong = Boolean(domain.trim()) && !isValidDomain(domain);
  return (
    <section className="stack g12" aria-label={say("installed")}>
      <h2 className="t-sec">{say("installed")}</h2>
      <p className="t-12 t-3">{say("installedHint")}</p>
      <form
        className="row g8 top"
        onSubmit={(event) => {
          event.preventDefault();
          void list.refetch().then(() => setAsked(domain.trim()));
        }}
      >
        <TextInput
          className="grow"
          aria-label={say("domain")}
          placeholder="www.example.com"
          value={domain}
          error={isWrong ? say("notDomain") : undefined}
          onChange={(event) => setDomain(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={list.isFetching} disabled={!domain.trim() || isWrong}>
          {say("check")}
        </Button>
      </form>
      {list.error && <FailureState error={list.error} onRetry={() => void list.refetch()} />}
      <div aria-live="polite">
        {asked && !list.isFetching && (
          <div className={`note ${outcome === "isInstalled" ? "ok" : outcome === "refused" ? "bad" : "warn"}`}>
            {say(outcome, {
              domain: asked,
              key: found?.key_name ?? "",
              when: found ? formatTimeSince(found.last_seen_at) : "",
            })}
          </div>
        )}
      </div>
      <ul className="stack g4">
        {seen.map((one) => (
          <li key={one.origin + one.key_id} className="row g8 t-13">
            <StatusLabel tone={one.is_refused ? "bad" : "ok"}>{one.origin}</StatusLabel>
            <span className="t-12 t-3 push" title={formatExactTime(one.last_seen_at)}>
              {one.is_refused ? say("refusedBy", { key: one.key_name }) : one.key_name},{" "}
              {formatTimeSince(one.last_seen_at)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
