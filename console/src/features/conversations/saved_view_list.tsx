import Bookmark from "icon:bookmark";
import Pencil from "icon:pencil";
import Trash from "icon:trash-2";
import { ActionIcon, Button, Popover, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { meQuery } from "../../api/queries";
import { createTranslator } from "../../shared/i18n/words";
import style from "./conversations.module.css";
import type { ConversationFilters } from "./filters";
import { hasConversationFilters } from "./list_query";
import { MAX_VIEW_NAME_LENGTH, type SavedView, SavedViews } from "./saved_views";
import { filtersFromAddress, filtersToAddress } from "./view_address";
import en from "./words.en.json";

const say = createTranslator(en, "features/conversations");

type Props = { filters: ConversationFilters };

/** Filters that this person keeps under a name. */
export function SavedViewsMenu({ filters }: Props) {
  const { data: me } = useQuery(meQuery);
  return me && <SavedViewsPopover key={me.id} userId={me.id} filters={filters} />;
}

function SavedViewsPopover({ userId, filters }: Props & { userId: string }) {
  const [views] = useState(() => new SavedViews(userId));
  const [isOpen, setOpen] = useState(false);
  const { views: kept } = useSyncExternalStore(views.subscribe, views.getSnapshot);
  const address = filtersToAddress(filters);
  const current = kept.find((one) => one.address === address);
  return (
    <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-end" width={320} shadow="md">
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<Bookmark size={13} />} onClick={() => setOpen(!isOpen)}>
          <span className={`cut ${style.view}`}>{current?.name ?? say("views")}</span>
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={say("views")} className="stack g12">
        {kept.length > 0 ? (
          <ul className={style.views} aria-label={say("views")}>
            {kept.map((view) => (
              <SavedViewRow
                key={view.name}
                view={view}
                views={views}
                isCurrent={view === current}
                onOpen={() => setOpen(false)}
              />
            ))}
          </ul>
        ) : (
          <p className="t-13 t-2">{say("noViews")}</p>
        )}
        {hasConversationFilters(filters) && !current && (
          <NameForm label={say("viewName")} action={say("saveView")} onDone={(name) => views.save(name, address)} />
        )}
        <p className="t-12 t-2">{say("viewsHint")}</p>
      </Popover.Dropdown>
    </Popover>
  );
}

type RowProps = { view: SavedView; views: SavedViews; isCurrent: boolean; onOpen: () => void };

function SavedViewRow({ view, views, isCurrent, onOpen }: RowProps) {
  const [isRenaming, setRenaming] = useState(false);
  if (isRenaming)
    return (
      <li>
        <NameForm
          label={say("viewName")}
          action={say("rename")}
          name={view.name}
          onDone={(name) => {
            setRenaming(false);
            views.rename(view.name, name);
          }}
        />
      </li>
    );
  return (
    <li className="row g6">
      <Link
        className={`grow cut ${style.viewLink}`}
        to="/conversations"
        search={filtersFromAddress(view.address)}
        aria-current={isCurrent ? "true" : undefined}
        onClick={onOpen}
      >
        {view.name}
      </Link>
      <ActionIcon aria-label={say("renameView", { name: view.name })} onClick={() => setRenaming(true)}>
        <Pencil size={14} />
      </ActionIcon>
      <ActionIcon aria-label={say("deleteView", { name: view.name })} onClick={() => views.remove(view.name)}>
        <Trash size={14} />
      </ActionIcon>
    </li>
  );
}

type NameProps = { label: string; action: string; name?: string; onDone: (name: string) => void };

function NameForm({ label, action, name = "", onDone }: NameProps) {
  const [text, setText] = useState(name);
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return;
    onDone(text);
    setText("");
  };
  return (
    <form className="row g8" onSubmit={handleSubmit}>
      <TextInput
        size="xs"
        className="grow"
        aria-label={label}
        placeholder={label}
        maxLength={MAX_VIEW_NAME_LENGTH}
        data-autofocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" size="xs" variant="default" disabled={!text.trim()}>
        {action}
      </Button>
    </form>
  );
}
