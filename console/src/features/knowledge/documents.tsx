import { Button, Menu, Modal, SegmentedControl, Switch } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { asApiError } from "../../api/errors";
import { usePermissionCheck } from "../../api/queries";
import { ActionsMenu } from "../../shared/actions_menu";
import { formatBytes } from "../../shared/byte_size";
import { useRowKeys } from "../../shared/frame/keys";
import { locale } from "../../shared/i18n/language";
import { createTranslator } from "../../shared/i18n/words";
import { SearchField } from "../../shared/list/search_field";
import { RowCheckbox } from "../../shared/marks/row_checkbox";
import { useMissingAccessHint } from "../../shared/states/access";
import { formatExactTime, formatTimeSince } from "../../shared/time";
import { DocumentState, FailureReason } from "./document_state";
import { DOCUMENT_STATUSES, type DocumentFilters } from "./filters";
import style from "./knowledge.module.css";
import { type Action, type Document, useDocumentChange } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/knowledge");
const SHOWN = DOCUMENT_STATUSES.filter((status) => status !== "pending");

type ToolbarProps = { filters: DocumentFilters; total: number; onChange: (change: Partial<DocumentFilters>) => void };

export function DocumentToolbar({ filters, onChange }: ToolbarProps) {
  return (
    <div className="toolbar">
      <SearchField label={say("find")} value={filters.search} onChange={(search) => onChange({ search })} />
      <SegmentedControl
        aria-label={say("status")}
        data={[{ value: "", label: say("all") }, ...SHOWN.map((value) => ({ value, label: say(value) }))]}
        value={filters.status ?? ""}
        onChange={(status) => onChange({ status: DOCUMENT_STATUSES.find((one) => one === status) })}
      />
    </div>
  );
}

type DocumentsProps = { agentId: string; rows: Document[]; chosen: string | undefined };

export function DocumentTable({ agentId, rows, chosen }: DocumentsProps) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  const mayWrite = usePermissionCheck()("agents:write");
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [leaving, setLeaving] = useState<Document[]>();
  const change = useDocumentChange(agentId);
  const visible = rows.filter((one) => marked.has(one.id));
  const markDocuments = (ids: string[], isMarked: boolean) =>
    setMarked((old) => new Set(isMarked ? [...old, ...ids] : [...old].filter((id) => !ids.includes(id))));
  const runAction = (action: Action, documents: Document[]) => {
    change.mutate({ action, ids: documents.map((one) => one.id) });
    setMarked(new Set());
  };
  return (
    <>
      {change.error && (
        <div className={`note bad ${style.inset}`} role="alert">
          {asApiError(change.error).message}
        </div>
      )}
      <div className="scroll-x" ref={list}>
        <table className={`table ${style.table}`}>
          <caption className="sr">{say("documents")}</caption>
          <DocumentColumns
            marking={
              mayWrite && (
                <RowCheckbox
                  label={say("chooseAll")}
                  isOn={visible.length === rows.length}
                  isPartly={visible.length > 0 && visible.length < rows.length}
                  onChange={(isOn) =>
                    markDocuments(
                      rows.map((one) => one.id),
                      isOn,
                    )
                  }
                />
              )
            }
          />
          <tbody>
            {rows.map((one) => (
              <DocumentRow
                key={one.id}
                agentId={agentId}
                document={one}
                isOpen={one.id === chosen}
                isMarked={marked.has(one.id)}
                mayWrite={mayWrite}
                onMark={(isMarked) => markDocuments([one.id], isMarked)}
                onAction={(action) => (action === "delete" ? setLeaving([one]) : runAction(action, [one]))}
              />
            ))}
          </tbody>
        </table>
      </div>
      {visible.length > 0 && (
        <BulkActionBar
          count={visible.length}
          onAction={(action) => (action === "delete" ? setLeaving(visible) : runAction(action, visible))}
        />
      )}
      {leaving && (
        <DeleteDocumentsDialog
          documents={leaving}
          onDelete={() => runAction("delete", leaving)}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </>
  );
}

const DocumentColumns = ({ marking }: { marking: ReactNode }) => (
  <thead>
    <tr>
      <th className={style.mark}>{marking}</th>
      <th>{say("name")}</th>
      <th className="wide">{say("status")}</th>
      <th className="wide num">{say("passages")}</th>
      <th className="wide num">{say("size")}</th>
      <th className="wide num">{say("added")}</th>
      <th>{say("use")}</th>
      <th>
        <span className="sr">{say("menu", { name: "" })}</span>
      </th>
    </tr>
  </thead>
);

type RowProps = {
  agentId: string;
  document: Document;
  isOpen: boolean;
  isMarked: boolean;
  mayWrite: boolean;
  onMark: (isMarked: boolean) => void;
  onAction: (action: Action) => void;
};

function DocumentRow({ agentId, document, isOpen, isMarked, mayWrite, onMark, onAction }: RowProps) {
  const { id, name } = document;
  const needs = useMissingAccessHint("agents:write");
  return (
    <tr className={isOpen || isMarked ? "on" : ""}>
      <td className={style.mark}>
        {mayWrite && <RowCheckbox label={say("chooseOne", { name })} isOn={isMarked} onChange={onMark} />}
      </td>
      <td className={style.nameCell}>
        <div className="stack g2">
          <Link
            data-row
            className={`t-500 cut ${style.name}`}
            from="/agents/$agentId/knowledge"
            to="/agents/$agentId/knowledge"
            params={{ agentId }}
            search={(old) => ({ ...old, document: id })}
            aria-current={isOpen || undefined}
            title={name}
          >
            {name}
          </Link>
          <span className={`t-12 t-3 ${style.narrow}`}>
            <DocumentState of={document} />
          </span>
          <FailureReason of={document} />
        </div>
      </td>
      <td className="wide">
        <DocumentState of={document} />
      </td>
      <td className="wide num t-2">{document.chunk_count.toLocaleString(locale)}</td>
      <td className="wide num t-2">{formatBytes(document.size_bytes)}</td>
      <td className="wide num t-2" title={formatExactTime(document.created_at)}>
        {formatTimeSince(document.created_at)}
      </td>
      <td>
        <Switch
          aria-label={say("useOne", { name })}
          checked={document.enabled && document.status !== "failed"}
          disabled={!mayWrite || document.status === "failed"}
          title={needs || undefined}
          onChange={(event) => onAction(event.currentTarget.checked ? "enable" : "disable")}
        />
      </td>
      <td>
        <DocumentMenu agentId={agentId} document={document} mayWrite={mayWrite} onAction={onAction} />
      </td>
    </tr>
  );
}

type RowMenuProps = Pick<RowProps, "agentId" | "document" | "mayWrite" | "onAction">;

function DocumentMenu({ agentId, document: { id, name }, mayWrite, onAction }: RowMenuProps) {
  const navigate = useNavigate();
  const openDocument = () =>
    void navigate({
      from: "/agents/$agentId/knowledge",
      to: "/agents/$agentId/knowledge",
      params: { agentId },
      search: (old) => ({ ...old, document: id }),
    });
  return (
    <ActionsMenu label={say("menu", { name })}>
      <Menu.Item onClick={openDocument}>{say("openPassages")}</Menu.Item>
      <Menu.Item onClick={() => void navigator.clipboard?.writeText(id)}>{say("copyId")}</Menu.Item>
      {mayWrite && <Menu.Item onClick={() => onAction("reindex")}>{say("reindex")}</Menu.Item>}
      {mayWrite && (
        <Menu.Item color="red" onClick={() => onAction("delete")}>
          {say("delete")}
        </Menu.Item>
      )}
    </ActionsMenu>
  );
}

function BulkActionBar({ count, onAction }: { count: number; onAction: (action: Action) => void }) {
  return (
    <div className={style.bulk} role="toolbar" aria-label={say("chosen", { count })}>
      <span className="t-13 t-500 num">{say("chosen", { count })}</span>
      {(["enable", "disable", "reindex"] as const).map((action) => (
        <Button key={action} size="xs" variant="default" onClick={() => onAction(action)}>
          {say(action)}
        </Button>
      ))}
      <Button size="xs" variant="default" color="red" onClick={() => onAction("delete")}>
        {say("delete")}
      </Button>
    </div>
  );
}

type DeleteProps = { documents: Document[]; onDelete: () => void; onClose: () => void };

function DeleteDocumentsDialog({ documents, onDelete, onClose }: DeleteProps) {
  const [only] = documents;
  const count = documents.length;
  const title = count === 1 && only ? say("deleteTitle", { name: only.name }) : `${say("deleteMany", { count })}?`;
  return (
    <Modal opened onClose={onClose} title={title} size={440}>
      <div className="stack g16">
        {count > 1 && <p className="t-13 t-2">{documents.map((one) => one.name).join(", ")}</p>}
        <p className="t-2">{say("deleteText")}</p>
        <div className="row g8">
          <Button variant="default" className="push" onClick={onClose} data-autofocus>
            {say("cancel")}
          </Button>
          <Button
            color="red"
            onClick={() => {
              onDelete();
              onClose();
            }}
          >
            {say("deleteMany", { count })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
