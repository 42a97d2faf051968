import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { createTranslator } from "../../shared/i18n/words";
import { FailureState } from "../../shared/states/states";
import { formatDecimal } from "../../shared/time";
import { highlightTerms } from "./highlight";
import style from "./knowledge.module.css";
import { type Passage, searchIndex } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");
const WORD_WEIGHT = 0.4;
const formatScore = (value: number) => formatDecimal(value, 2);

/** A question, and the passages that the index finds for it. */
export function IndexSearch({ agentId }: { agentId: string }) {
  const [question, setQuestion] = useState("");
  const search = useMutation({ mutationFn: (text: string) => searchIndex(agentId, text) });
  const found = search.data;
  const given = found?.filter((one) => one.explanation?.is_given) ?? [];
  const others = found?.filter((one) => !one.explanation?.is_given) ?? [];
  return (
    <>
      <header className={style.sideHead}>
        <div className="stack grow">
          <h2 className="t-sec">{say("askTitle")}</h2>
          <span className="t-12 t-3">{say("askHint")}</span>
        </div>
      </header>
      <div className={style.sideBody}>
        <form
          className="row g8"
          onSubmit={(event) => {
            event.preventDefault();
            if (question.trim()) search.mutate(question.trim());
          }}
        >
          <TextInput
            className="grow"
            aria-label={say("askLabel")}
            placeholder={say("askPlaceholder")}
            value={question}
            maxLength={4000}
            onChange={(event) => setQuestion(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={search.isPending} disabled={!question.trim()}>
            {say("ask")}
          </Button>
        </form>
        {search.error && <FailureState error={search.error} onRetry={() => search.mutate(question.trim())} />}
        <div aria-live="polite" className="stack g20">
          {found?.length === 0 && <p className="t-13 t-2">{say("askAgain")}</p>}
          {given.length > 0 && <PassageFindings title={say("given")} of={given} agentId={agentId} />}
          {others.length > 0 && (
            <PassageFindings title={say("notGiven")} hint={say("notGivenHint")} of={others} agentId={agentId} />
          )}
        </div>
      </div>
    </>
  );
}

type FindingsProps = { title: string; hint?: string; of: Passage[]; agentId: string };

function PassageFindings({ title, hint, of: passages, agentId }: FindingsProps) {
  return (
    <section className="stack g8" aria-label={title}>
      <h3 className="t-13 t-600">{title}</h3>
      {hint && <p className="t-12 t-3">{hint}</p>}
      <ol className={style.passages}>
        {passages.map((one) => (
          <PassageFinding key={one.chunk_id} passage={one} agentId={agentId} />
        ))}
      </ol>
    </section>
  );
}

function PassageFinding({ passage, agentId }: { passage: Passage; agentId: string }) {
  const why = passage.explanation;
  const place = [passage.heading, passage.page !== null && say("page", { page: passage.page })];
  return (
    <li className={style.passage}>
      <div className="row g8 t-12">
        <Link
          className="link cut"
          from="/agents/$agentId/knowledge"
          to="/agents/$agentId/knowledge"
          params={{ agentId }}
          search={(old) => ({ ...old, document: passage.document_id })}
        >
          {passage.document_name}
        </Link>
        <span className="t-3 cut grow">{place.filter(Boolean).join(", ")}</span>
        <span className="mono num t-500 fix">{formatScore(passage.relevance_score)}</span>
      </div>
      {why && <ScoreDetail similarity={why.similarity} wordShare={why.word_share} total={passage.relevance_score} />}
      <p className={style.text}>
        {highlightTerms(why?.text ?? passage.chunk_preview, why?.matched_terms ?? []).map((piece, i) =>
          piece.isMatch ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>,
        )}
      </p>
      {why && why.matched_terms.length > 0 && (
        <div className="row g4 wrap t-12 t-3">
          {say("matched")}:
          {why.matched_terms.map((term) => (
            <span key={term} className="pill">
              {term}
            </span>
          ))}
        </div>
      )}
    </li>
  );
}

type ScoreProps = { similarity: number | null; wordShare: number; total: number };

/** What a score is made of: meaning, and up to 0.4 for words. */
function ScoreDetail({ similarity, wordShare, total }: ScoreProps) {
  const meaning = similarity ?? 0;
  const inWords = similarity === null ? wordShare : WORD_WEIGHT * wordShare;
  const parts = [
    similarity === null ? say("notMeaning") : say("meaning", { share: formatScore(meaning) }),
    say("inWords", { share: formatScore(inWords) }),
  ].join(" + ");
  return (
    <div className="row g8">
      <div className={style.score} role="img" aria-label={say("scoreOf", { score: formatScore(total), parts })}>
        <i style={{ width: `${meaning * 100}%` }} />
        <i style={{ width: `${Math.min(inWords, 1 - meaning) * 100}%` }} />
      </div>
      <span className="t-12 t-3 num fix" aria-hidden>
        {parts}
      </span>
    </div>
  );
}
