import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { apiUrlOf } from "../../api/client";
import { CopyableCode } from "../../shared/code";
import { createTranslator } from "../../shared/i18n/words";
import { SheetSection } from "../../shared/patterns/sheet";
import { type CallProps, planRequest } from "./request_draft";
import { SNIPPET_LANGUAGES, type SnippetLanguage, writeSnippet } from "./snippets";
import { TryForm } from "./try_form";
import en from "./words.en.json";

const say = createTranslator(en, "features/reference");
const NAMES: Record<SnippetLanguage, string> = { curl: "curl", python: "Python", javascript: "JavaScript" };
const isLanguage = (way: string): way is SnippetLanguage => SNIPPET_LANGUAGES.some((one) => one === way);

/** One request, as a program in three languages or tried here; what is entered stands in each of them. */
export function OperationCall(props: CallProps) {
  const [way, setWay] = useState<string>("try");
  const { operation, draft } = props;
  return (
    <SheetSection
      title={say("call")}
      actions={
        <SegmentedControl
          aria-label={say("call")}
          data={[
            { value: "try", label: say("try") },
            ...SNIPPET_LANGUAGES.map((value) => ({ value, label: NAMES[value] })),
          ]}
          value={way}
          onChange={setWay}
        />
      }
    >
      {isLanguage(way) ? (
        <div className="stack g8">
          <CopyableCode
            label={NAMES[way]}
            text={writeSnippet(way, planRequest(operation, draft), {
              server: apiUrlOf(""),
              isPublic: operation.requires === "public",
            })}
          />
          {operation.requires !== "public" && <p className="t-12 t-3">{say("tokenHint")}</p>}
        </div>
      ) : (
        <TryForm {...props} />
      )}
    </SheetSection>
  );
}
