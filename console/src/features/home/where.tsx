import ArrowRight from "icon:arrow-right";
import Check from "icon:check";
import UserRound from "icon:user-round";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, unwrapData } from "../../api/client";
import { usePermissionCheck } from "../../api/queries";
import { readRecentPlaces } from "../../shared/frame/recent";
import { createTranslator } from "../../shared/i18n/words";
import { InvitePopover } from "../../shared/people/invite";
import { formatTimeSince } from "../../shared/time";
import style from "./home.module.css";
import type { Checklist } from "./queries";
import { listSetupSteps, listStepPlaces, type StepName } from "./steps";
import en from "./words.en.json";

const say = createTranslator(en, "features/home");

/** The last addresses of this person in this browser. */
export function RecentPlaces({ userId }: { userId?: string }) {
  const places = userId ? readRecentPlaces(userId) : [];
  return (
    <section className="stack g8" aria-labelledby="recent">
      <h2 id="recent" className="t-sec">
        {say("recent")}
      </h2>
      {places.length ? (
        <ul className="card">
          {places.map((place) => (
            <li key={place.to}>
              <Link className={style.recent} to={place.to}>
                <span className="t-500 cut grow">{place.title}</span>
                <span className="t-12 t-3 num fix">{formatTimeSince(place.at)}</span>
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        <div className={`card t-13 t-2 ${style.calm}`}>{say("nowhere")}</div>
      )}
    </section>
  );
}

/** Where each open step is taken: with the agent that is there, if one is, and not with another one. */
function useStepPlaces(isOpen: boolean): Partial<Record<StepName, string>> {
  const { data: agents } = useQuery({
    queryKey: ["agents", "to-begin-with"],
    queryFn: () => unwrapData(api.GET("/api/v1/agents", { params: { query: { page: 1, per_page: 20 } } })),
    enabled: isOpen,
  });
  return agents ? listStepPlaces(agents.data) : {};
}

/** The whole row leads there. */
function SetupStepRow({ name, isDone, place }: { name: StepName; isDone: boolean; place?: string }) {
  const [isInviting, setInviting] = useState(false);
  const row = (
    <>
      <span className={style.box} data-done={isDone || undefined}>
        {isDone && <Check size={12} />}
      </span>
      <span className="sr">{say(isDone ? "isDone" : "isOpen")}</span>
      <span className={`grow ${isDone ? "t-2" : "t-500"}`}>{say(`step_${name}`)}</span>
    </>
  );
  if (!isDone && place)
    return (
      <Link to={place} className={style.step}>
        {row}
        <ArrowRight size={15} />
      </Link>
    );
  if (!isDone && name === "colleague")
    return (
      <InvitePopover isOpen={isInviting} onChange={setInviting}>
        <button type="button" className={style.step} onClick={() => setInviting(!isInviting)}>
          {row}
          <UserRound size={15} />
        </button>
      </InvitePopover>
    );
  return <div className={style.step}>{row}</div>;
}

/** The first steps, until they are done or put away. */
export function SetupSteps({ checklist, userId }: { checklist: Checklist; userId?: string }) {
  const key = `retinue.steps-away.${userId}`;
  const [isAway, setAway] = useState(() => localStorage.getItem(key) === "1");
  const steps = listSetupSteps(checklist, usePermissionCheck());
  const done = steps.filter((name) => checklist[name]).length;
  const places = useStepPlaces(!isAway && done < steps.length);
  if (isAway || !steps.length || done === steps.length) return null;
  const dismissSteps = () => {
    localStorage.setItem(key, "1");
    setAway(true);
  };
  return (
    <section className="stack g8" aria-labelledby="steps">
      <div className="row between">
        <h2 id="steps" className="t-sec">
          {say("steps")}
        </h2>
        <span className="t-12 t-3 num">{say("stepsDone", { done, count: steps.length })}</span>
      </div>
      <ul className={`card ${style.steps}`}>
        {steps.map((name) => (
          <li key={name}>
            <SetupStepRow name={name} isDone={Boolean(checklist[name])} place={places[name]} />
          </li>
        ))}
      </ul>
      <button type="button" className={style.more} onClick={dismissSteps}>
        {say("putAway")}
      </button>
    </section>
  );
}
