import SquarePen from "icon:square-pen";
import { Kbd } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { meQuery } from "../../api/queries";
import { usePageCommands } from "../../shared/frame/commands";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { SearchField } from "../../shared/list/search_field";
import { ChatList } from "./chat_list";
import style from "./history.module.css";
import { CHAT_VIEWS, type ChatSelection, type ChatView, newestChatsQuery } from "./own_chats";
import en from "./words.en.json";

const say = createTranslator(en, "features/chat");

/** Own chats by day. A column of the page for most; for people who only chat, it is the navigation. */
export function ChatHistory() {
  const { data: me } = useQuery(meQuery);
  const navigate = useNavigate();
  const [view, setView] = useState<ChatView>("own");
  const [search, setSearch] = useState("");
  const userId = me?.id ?? "";
  const selection = useMemo<ChatSelection>(() => ({ userId, view, search }), [userId, view, search]);
  const { data: newest } = useQuery(newestChatsQuery(selection));
  usePageCommands([{ label: say("newChat"), keys: "n", run: () => void navigate({ to: "/chat" }) }]);
  return (
    <div className={style.history}>
      <div className={style.head}>
        <Link className={style.new} to="/chat">
          <SquarePen size={15} />
          <span className="grow">{say("newChat")}</span>
          <Kbd>N</Kbd>
        </Link>
        <SearchField label={say("find")} value={search || undefined} onChange={(text) => setSearch(text ?? "")} />
      </div>
      <ChatList key={view} selection={selection} />
      <div className={style.foot} data-list-foot>
        {CHAT_VIEWS.map((one) => (
          <button type="button" key={one} aria-pressed={one === view} onClick={() => setView(one)}>
            {say(`view_${one}`)}
          </button>
        ))}
        {newest && (
          <span className="push t-3 num" title={view === "own" ? say("onlyYou") : undefined}>
            {newest.pagination.total.toLocaleString(locale)}
          </span>
        )}
      </div>
    </div>
  );
}
