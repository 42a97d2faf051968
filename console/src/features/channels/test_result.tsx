import Check from "icon:check";
import { useQuery } from "@tanstack/react-query";
import { asApiError } from "../../api/errors";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import { Note } from "../../shared/patterns/note";
import { translateSentence } from "../../shared/sentences/sentences";
import { formatDuration } from "../../shared/time";
import style from "./channel_form.module.css";
import type { ChannelTypeName } from "./filters";
import type { ChannelTest } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

type ChannelTestResultProps = { test: { data?: ChannelTest; error: Error | null }; type: ChannelTypeName };

/** Whether the test arrived, above the button that sent it. */
export function ChannelTestResult({ test: { data: result, error }, type }: ChannelTestResultProps) {
  const { data: me } = useQuery(meQuery);
  return (
    <div role="status" className={style.result}>
      {error && <Note tone="bad">{asApiError(error).message}</Note>}
      {result && (
        <Note tone={result.success ? "ok" : "bad"} icon={result.success ? <Check size={15} /> : undefined}>
          {result.success
            ? say(type === "email" ? "testMailed" : "testSent", {
                time: formatDuration(result.delivery_time_ms),
                email: me?.email ?? "",
              })
            : translateSentence(result.message)}
        </Note>
      )}
    </div>
  );
}
