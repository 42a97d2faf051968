import Plus from "icon:plus";
import UserRound from "icon:user-round";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { meQuery, usePermissionCheck } from "../../api/queries";
import { usePageTitle } from "../../shared/frame/page_title";
import { createTranslator } from "../../shared/i18n/words";
import { InvitePopover } from "../../shared/people/invite";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { TodayFigures } from "./figures";
import style from "./home.module.css";
import { NeedList } from "./needs";
import { liveHomeQuery } from "./queries";
import { RecentPlaces, SetupSteps } from "./where";
import en from "./words.en.json";

const PublishedAgentList = lazy(() => import("./agents").then((found) => ({ default: found.PublishedAgentList })));
const say = createTranslator(en, "features/home");
const chooseGreeting = (hour: number) =>
  hour < 5 ? "night" : hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening";

/** What needs me, is it well, where was I. */
export default function HomePage() {
  const { data: me } = useQuery(meQuery);
  const { data: home, error, refetch } = useQuery(liveHomeQuery);
  const may = usePermissionCheck();
  usePageTitle(say("title"));
  // The command palette leads here, too.
  const isAsked = useLocation({ select: (now) => now.hash === "invite" });
  const [isOpened, setOpened] = useState(false);
  const isInviting = isOpened || isAsked;
  const navigate = useNavigate();
  const changeInviting = (isOpen: boolean) => {
    setOpened(isOpen);
    // With the hash still there, the palette could not ask once more.
    if (!isOpen && isAsked) void navigate({ to: "/", replace: true });
  };
  const name = me?.first_name ?? "";
  return (
    <div className={style.home}>
      <header className="row between wrap g12">
        <div className="stack g4">
          <h1 className="t-display">{say(chooseGreeting(new Date().getHours()), { name })}</h1>
          {home && (
            <p className="t-2">
              {home.needs.length
                ? say(home.sees_all_needs ? "some" : "someForYou", { count: home.needs.length })
                : say("none")}
            </p>
          )}
        </div>
        <span className="row g8 wrap">
          {may("admin:users") && (
            <InvitePopover isOpen={isInviting} onChange={changeInviting}>
              <Button
                variant="default"
                leftSection={<UserRound size={14} />}
                onClick={() => changeInviting(!isInviting)}
              >
                {say("invite")}
              </Button>
            </InvitePopover>
          )}
          {may("agents:write") && (
            <Button
              variant="default"
              leftSection={<Plus size={14} />}
              renderRoot={(props) => <Link {...props} to="/agents" search={{ create: true }} />}
            >
              {say("newAgent")}
            </Button>
          )}
        </span>
      </header>
      {error && !home ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : !home ? (
        <RowSkeletons rows={4} columns={[28, 300, 96]} />
      ) : (
        <>
          <NeedList needs={home.needs} isAll={home.sees_all_needs} chats={home.today?.chats} />
          {/* For people who build no agents little else stands here. */}
          {may("agents:read") && !may("agents:write") && (
            <Suspense fallback={null}>
              <PublishedAgentList />
            </Suspense>
          )}
          {home.today && <TodayFigures today={home.today} before={home.compared_with} />}
          <div className={style.two}>
            <RecentPlaces userId={me?.id} />
            <SetupSteps checklist={home.checklist} userId={me?.id} />
          </div>
        </>
      )}
    </div>
  );
}
