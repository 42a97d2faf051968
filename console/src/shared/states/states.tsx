import Compass from "icon:compass";
import RotateCw from "icon:rotate-cw";
import Timer from "icon:timer";
import Unplug from "icon:unplug";
import { Button } from "@mantine/core";
import { useMemo, useSyncExternalStore } from "react";
import { type ApiError, asApiError } from "../../api/errors";
import { everyHalfSecond } from "../clock";
import { createTranslator } from "../i18n/words";
import { EmptyState, EmptyStateArt, homeButton } from "./empty";
import { LaterForbiddenState } from "./later_forbidden";
import en from "./words.en.json";

const say = createTranslator(en, "shared/states");

/** Seconds until a moment, counted down to zero. */
export function useCountdown(seconds: number): number {
  const endsAt = useMemo(() => Date.now() + seconds * 1000, [seconds]);
  return useSyncExternalStore(everyHalfSecond, () => Math.max(0, Math.ceil((endsAt - Date.now()) / 1000)));
}

function ThrottledState({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  const left = useCountdown(error.retryAfterSeconds || 30);
  return (
    <EmptyState
      art={<EmptyStateArt icon={Timer} tone="wait" />}
      title={say("throttledTitle")}
      actions={
        onRetry && (
          <Button disabled={left > 0} onClick={onRetry}>
            {left ? say("tryIn", { seconds: left }) : say("tryAgain")}
          </Button>
        )
      }
    >
      {say("throttled")}
    </EmptyState>
  );
}

/** What went wrong and the way on: 403 names the permission, 404 leads back, the rest can be tried again. */
export function FailureState({ error: caughtError, onRetry }: { error: unknown; onRetry?: () => void }) {
  const error = asApiError(caughtError);
  if (error.status === 403) return <LaterForbiddenState error={error} />;
  if (error.status === 404)
    return (
      <EmptyState art={<EmptyStateArt icon={Compass} tone="turn" />} title={say("missingTitle")} actions={homeButton}>
        {error.message}
      </EmptyState>
    );
  if (error.isTenantLimit) return <ThrottledState error={error} onRetry={onRetry} />;
  const isGone = error.code === "server_gone";
  const isPart = error.code === "part_missing";
  // The browser remembers that a part of the page failed: only a reload asks for it again.
  const again = isPart ? () => location.reload() : onRetry;
  return (
    <EmptyState
      art={<EmptyStateArt icon={Unplug} tone="bad" />}
      title={say(isGone ? "goneTitle" : "failedTitle")}
      actions={
        again && (
          <Button leftSection={<RotateCw size={14} />} onClick={again}>
            {say("tryAgain")}
          </Button>
        )
      }
    >
      {isGone ? say("gone") : isPart ? say("partMissing") : error.message} <code className="mono">{error.code}</code>
      {error.correlationId && (
        <>
          {" "}
          {say("handOn")} <code className="mono">{error.correlationId}</code>
        </>
      )}
    </EmptyState>
  );
}

export const NotFoundState = () => (
  <EmptyState art={<EmptyStateArt icon={Compass} tone="turn" />} title={say("missingTitle")} actions={homeButton}>
    {say("missing")}
  </EmptyState>
);

/** Skeletons stand where the columns will stand, so that nothing jumps. Nothing is shown for 150 ms. */
export function RowSkeletons({ rows = 8, columns }: { rows?: number; columns: number[] }) {
  return (
    <div className="late" role="status" aria-label={say("loading")}>
      {Array.from({ length: rows }, (_, i) => (
        <div
          key={i}
          className="row"
          style={{ height: 54, gap: 24, padding: "0 24px", borderBottom: "1px solid var(--r-line)" }}
        >
          {columns.map((width, j) => (
            <span
              key={j}
              className="shim"
              style={{
                height: j ? 10 : 16,
                flex: j === 1 ? `1 1 ${width}px` : `0 1 ${width}px`,
                animationDelay: `${i * 60}ms`,
              }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}
