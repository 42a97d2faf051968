import Check from "icon:check";
import Settings2 from "icon:settings-2";
import { ActionIcon, Button, SegmentedControl, Tooltip } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef } from "react";
import { api, data } from "../../api/client";
import { useMay } from "../../api/queries";
import { Bar } from "../../shared/frame/bar";
import { useRowKeys } from "../../shared/frame/keys";
import { words } from "../../shared/i18n/words";
import { Empty } from "../../shared/states/empty";
import { Failure, RowsLoading } from "../../shared/states/states";
import { exactTime, timeSince } from "../../shared/time";
import style from "./inbox.module.css";
import { messageOf, type Notification, notificationTitle } from "./notification_words";
import en from "./words.en.json";

const say = words(en, "features/notifications");
const Preferences = lazy(() => import("./preferences"));

export default function Inbox() {
  const { all: isAll = false, preferences: isPreferring } = useSearch({ from: "/frame/inbox" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const list = useQuery({
    queryKey: ["notifications", "list", { isAll }],
    queryFn: () =>
      data(
        api.GET("/api/v1/notifications", { params: { query: { per_page: 50, ...(isAll ? {} : { read: false }) } } }),
      ),
  });
  const refresh = () => client.invalidateQueries({ queryKey: ["notifications"] });
  const readAll = useMutation({ mutationFn: () => api.POST("/api/v1/notifications/read-all"), onSuccess: refresh });
  const readOne = useMutation({
    mutationFn: (id: string) =>
      api.POST("/api/v1/notifications/{notification_id}/read", { params: { path: { notification_id: id } } }),
    onSuccess: refresh,
  });
  const rows = list.data?.data;
  const rowList = useRef<HTMLUListElement>(null);
  useRowKeys(rowList);
  const setPreferring = (isOpen: boolean) =>
    void navigate({
      to: "/inbox",
      search: { ...(isAll ? { all: true } : {}), ...(isOpen ? { preferences: true } : {}) },
      replace: true,
    });
  return (
    <>
      <Bar
        title={say("title")}
        after={
          list.data &&
          list.data.unread > 0 && (
            <span className="t-3 num t-13 fix">{say("unreadCount", { count: list.data.unread })}</span>
          )
        }
      >
        <Tooltip label={say("preferences")}>
          <ActionIcon variant="default" size={32} aria-label={say("preferences")} onClick={() => setPreferring(true)}>
            <Settings2 size={15} />
          </ActionIcon>
        </Tooltip>
        <Button variant="default" disabled={!list.data?.unread} onClick={() => readAll.mutate()}>
          {say("markAll")}
        </Button>
      </Bar>
      <div className="toolbar">
        <SegmentedControl
          aria-label={say("show")}
          data={[
            { value: "unread", label: say("unread") },
            { value: "all", label: say("all") },
          ]}
          value={isAll ? "all" : "unread"}
          onChange={(value) =>
            void navigate({ to: "/inbox", search: value === "all" ? { all: true } : {}, replace: true })
          }
        />
      </div>
      {list.error && !rows ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowsLoading columns={[10, 300, 60]} />
      ) : rows.length === 0 ? (
        <Empty title={say("emptyTitle")}>{say(isAll ? "empty" : "emptyUnread")}</Empty>
      ) : (
        <ul ref={rowList}>
          {rows.map((one) => (
            <Item key={one.id} of={one} onRead={() => readOne.mutate(one.id)} />
          ))}
        </ul>
      )}
      <Suspense fallback={null}>{isPreferring && <Preferences onClose={() => setPreferring(false)} />}</Suspense>
    </>
  );
}

function Item({ of: one, onRead }: { of: Notification; onRead: () => void }) {
  return (
    <li className={style.item}>
      <i className={`dot ${one.read ? "idle" : "run"} ${style.dot}`} />
      <div className="stack grow">
        <Title of={one} onOpen={() => !one.read && onRead()} />
        {one.message && <span className={`t-13 t-2 ${style.message}`}>{messageOf(one)}</span>}
      </div>
      <span className="t-12 t-3 num fix" title={exactTime(one.created_at)}>
        {timeSince(one.created_at)}
      </span>
      {!one.read && (
        <Tooltip label={say("markRead")}>
          <ActionIcon variant="default" aria-label={say("markRead")} onClick={() => onRead()}>
            <Check size={15} />
          </ActionIcon>
        </Tooltip>
      )}
    </li>
  );
}

/** What it says; as a link where the console has a page for it that this person may open. */
function Title({ of, onOpen }: { of: Notification; onOpen: () => void }) {
  const may = useMay();
  const title = notificationTitle(of);
  const tone = of.read ? "t-2" : "t-500";
  const approvalId = (of.data as Record<string, unknown>).approval_id;
  if (typeof approvalId !== "string" || !may("approvals:read")) return <span className={tone}>{title}</span>;
  return (
    <Link data-row className={`${tone} ${style.link}`} to="/approvals" search={{ id: approvalId }} onClick={onOpen}>
      {title}
    </Link>
  );
}
