import Plus from "icon:plus";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { homeQuery, meQuery, useMay } from "../../api/queries";
import { words } from "../../shared/i18n/words";
import { Failure, RowsLoading } from "../../shared/states/states";
import { Figures } from "./figures";
import style from "./home.module.css";
import { Needs } from "./needs";
import { Recent, Steps } from "./where";
import en from "./words.en.json";

const say = words(en, "features/home");
const greetingAt = (hour: number) => (hour < 5 ? "night" : hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening");

/** What needs me, is it well, where was I. */
export default function Home() {
  const { data: me } = useQuery(meQuery);
  const { data: home, error, refetch } = useQuery({ ...homeQuery, refetchOnMount: "always" });
  const may = useMay();
  useEffect(() => {
    document.title = `${say("title")} · Retinue`;
  }, []);
  const name = me?.first_name ?? "";
  return (
    <div className={style.home}>
      <header className="row between wrap g12">
        <div className="stack g4">
          <h1 className="t-display">{say(greetingAt(new Date().getHours()), { name })}</h1>
          {home && (
            <p className="t-2">
              {home.needs.length
                ? say(home.sees_all_needs ? "some" : "someForYou", { count: home.needs.length })
                : say("none")}
            </p>
          )}
        </div>
        {may("agents:write") && (
          <Button
            variant="default"
            leftSection={<Plus size={14} />}
            renderRoot={(props) => <Link {...props} to="/agents" search={{ create: true }} />}
          >
            {say("newAgent")}
          </Button>
        )}
      </header>
      {error && !home ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !home ? (
        <RowsLoading rows={4} columns={[28, 300, 96]} />
      ) : (
        <>
          <Needs needs={home.needs} isAll={home.sees_all_needs} chats={home.today?.chats} />
          {home.today && <Figures today={home.today} before={home.compared_with} />}
          <div className={style.two}>
            <Recent userId={me?.id} />
            <Steps checklist={home.checklist} userId={me?.id} />
          </div>
        </>
      )}
    </div>
  );
}
