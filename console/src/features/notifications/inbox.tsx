import Check from "icon:check";
import Settings2 from "icon:settings-2";
import { ActionIcon, Button, SegmentedControl, Tooltip } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { api, unwrapData } from "../../api/client";
import { usePermissionCheck } from "../../api/queries";
import { PageBar } from "../../shared/frame/bar";
import { useRowKeys } from "../../shared/frame/keys";
import { createTranslator } from "../../shared/i18n/words";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import style from "./inbox.module.css";
import { findNotificationPlace } from "./notification_place";
import { formatNotificationMessage, formatNotificationTitle, type Notification } from "./notification_words";
import en from "./words.en.json";

const say = createTranslator(en, "features/notifications");

const markAllRead = () => api.POST("/api/v1/notifications/read-all");

const listNotifications = (isAll: boolean) =>
  unwrapData(
    api.GET("/api/v1/notifications", { params: { query: { per_page: 50, ...(isAll ? {} : { read: false }) } } }),
  );

export default function InboxPage() {
  const { all: isAll = false } = useSearch({ from: "/frame/inbox" });
  const navigate = useNavigate();
  const client = useQueryClient();
  const list = useQuery({
    queryKey: ["notifications", "list", { isAll }],
    queryFn: () => listNotifications(isAll),
  });
  const refreshInbox = () => client.invalidateQueries({ queryKey: ["notifications"] });
  const readAll = useMutation({ mutationFn: markAllRead, onSuccess: refreshInbox });
  const readOne = useMutation({
    mutationFn: (id: string) =>
      api.POST("/api/v1/notifications/{notification_id}/read", { params: { path: { notification_id: id } } }),
    onSuccess: refreshInbox,
  });
  const rows = list.data?.data;
  const rowList = useRef<HTMLUListElement>(null);
  useRowKeys(rowList);
  return (
    <>
      <PageBar
        title={say("title")}
        after={
          list.data &&
          list.data.unread > 0 && (
            <span className="t-3 num t-13 fix">{say("unreadCount", { count: list.data.unread })}</span>
          )
        }
      >
        <Tooltip label={say("preferences")}>
          <ActionIcon
            variant="default"
            size={32}
            aria-label={say("preferences")}
            renderRoot={(props) => <Link {...props} to="/inbox/preferences" />}
          >
            <Settings2 size={15} />
          </ActionIcon>
        </Tooltip>
        <Button variant="default" disabled={!list.data?.unread} onClick={() => readAll.mutate()}>
          {say("markAll")}
        </Button>
      </PageBar>
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
        <FailureState error={list.error} onRetry={() => void list.refetch()} />
      ) : !rows ? (
        <RowSkeletons columns={[10, 300, 60]} />
      ) : rows.length === 0 ? (
        <EmptyState title={say("emptyTitle")}>{say(isAll ? "empty" : "emptyUnread")}</EmptyState>
      ) : (
        <ul ref={rowList}>
          {rows.map((notification) => (
            <InboxItem
              key={notification.id}
              notification={notification}
              onRead={() => readOne.mutate(notification.id)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function InboxItem({ notification: one, onRead }: { notification: Notification; onRead: () => void }) {
  return (
    <li className={style.item}>
      <i className={`dot ${one.read ? "idle" : "run"} ${style.dot}`} />
      <div className="stack grow">
        <NotificationTitle notification={one} onOpen={() => !one.read && onRead()} />
        {one.message && <span className={`t-13 t-2 ${style.message}`}>{formatNotificationMessage(one)}</span>}
      </div>
      <span className="t-12 t-3 num fix" title={formatExactTime(one.created_at)}>
        {formatTimeSince(one.created_at)}
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
function NotificationTitle({ notification, onOpen }: { notification: Notification; onOpen: () => void }) {
  const may = usePermissionCheck();
  const title = formatNotificationTitle(notification);
  const tone = notification.read ? "t-2" : "t-500";
  const place = findNotificationPlace(notification, may);
  if (!place) return <span className={tone}>{title}</span>;
  return (
    <Link data-row className={`${tone} ${style.link}`} to={place.to} search={place.search} onClick={onOpen}>
      {title}
    </Link>
  );
}
