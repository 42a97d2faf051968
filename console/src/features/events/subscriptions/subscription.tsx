import { Autocomplete, Button, JsonInput, Menu, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { asApiError } from "../../../api/errors";
import { usePermissionCheck } from "../../../api/queries";
import { ActionsMenu } from "../../../shared/actions_menu";
import { ConfirmDialog } from "../../../shared/confirm";
import { PageBar } from "../../../shared/frame/bar";
import { general } from "../../../shared/i18n/general";
import { createTranslator } from "../../../shared/i18n/words";
import { LeaveQuestion } from "../../../shared/patterns/leave_question";
import { Note } from "../../../shared/patterns/note";
import { ProblemNote } from "../../../shared/patterns/refusal_note";
import { Sheet, SheetSection } from "../../../shared/patterns/sheet";
import { FailureState, RowSkeletons } from "../../../shared/states/states";
import { showToast } from "../../../shared/toast/toasts";
import { useFieldProblems } from "../../../shared/use_fields";
import style from "../events.module.css";
import { parseJsonObject } from "../json_object";
import {
  createSubscription,
  deleteSubscription,
  type EventData,
  eventKindsQuery,
  lastEventsQuery,
  type Subscription,
  subscriptionQuery,
  updateSubscription,
  useSubscriptionChange,
} from "../queries";
import en from "../words.en.json";
import { ActionFields } from "./action_fields";
import { ConditionFields } from "./condition_fields";
import { filtersFromRows, findRowProblem, fitsConditionRows, listConditions, listFieldPaths } from "./condition_rows";
import { MatchPreview } from "./match_preview";
import { isSameJson } from "./matching";

const say = createTranslator(en, "features/events");
const NEW = "new";
const SHEET_WIDTH = 720;
const EMPTY = { event_type: "", filters: {}, action_type: "workflow", action_config: {} } as const;

/** A subscription: when this happens and that is true, do something. */
export default function SubscriptionPage() {
  const { subscriptionId: id } = useParams({ from: "/frame/events/subscriptions/$subscriptionId" });
  const isNew = id === NEW;
  const read = useQuery({ ...subscriptionQuery(id), enabled: !isNew });
  const mayWrite = usePermissionCheck()("events:write");
  return (
    <>
      <PageBar
        trail={[
          { label: say("title"), to: "/events" },
          { label: say("subscriptions"), to: "/events/subscriptions" },
        ]}
        title={isNew ? say("addSubscription") : (read.data?.event_type ?? "…")}
        isThere={!isNew && Boolean(read.data)}
      >
        {read.data && mayWrite && <SubscriptionActions subscription={read.data} />}
      </PageBar>
      {!isNew && read.error && <FailureState error={read.error} onRetry={() => void read.refetch()} />}
      {!isNew && read.isPending && <RowSkeletons columns={[120, 300]} />}
      {isNew && <SubscriptionBuilder />}
      {!isNew && read.data && <SubscriptionBuilder key={read.data.id} of={read.data} />}
    </>
  );
}

function SubscriptionActions({ subscription }: { subscription: Subscription }) {
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const remove = useSubscriptionChange(deleteSubscription);
  return (
    <>
      <ActionsMenu label={say("more")}>
        <Menu.Item color="red" onClick={() => setDeleting(true)}>
          {say("delete")}
        </Menu.Item>
      </ActionsMenu>
      {isDeleting && (
        <ConfirmDialog
          title={say("deleteTitle", { name: subscription.event_type })}
          action={say("delete")}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() =>
            remove.mutate(subscription.id, {
              onSuccess: () => void navigate({ to: "/events/subscriptions", replace: true, ignoreBlocker: true }),
            })
          }
          onClose={() => setDeleting(false)}
        >
          <p>{say("deleteText")}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** What is entered of a subscription, and how it is saved. */
function useSubscriptionEditing(subscription: Subscription | undefined) {
  const [before] = useState(() => {
    const { event_type, filters, action_type, action_config } = subscription ?? EMPTY;
    return { event_type, filters, action_type, action_config };
  });
  const [type, setType] = useState(before.event_type);
  const [rows, setRows] = useState(() => listConditions(subscription?.filters ?? {}));
  const [json, setJson] = useState(() =>
    fitsConditionRows(subscription?.filters ?? {}) ? undefined : JSON.stringify(subscription?.filters, null, 2),
  );
  const [action, setAction] = useState<Subscription["action_type"]>(subscription?.action_type ?? "workflow");
  const [config, setConfig] = useState(subscription?.action_config ?? {});
  const filters = json === undefined ? filtersFromRows(rows) : parseJsonObject(json);
  const isStorable = json === undefined ? !rows.some((row) => findRowProblem(rows, row)) : Boolean(filters);
  const body = { event_type: type.trim(), filters: filters ?? {}, action_type: action, action_config: config };
  const hasChanges = !isStorable || !isSameJson(body, before);
  const save = useSubscriptionChange(async () => {
    if (subscription) await updateSubscription({ id: subscription.id, ...body });
    else await createSubscription(body);
  });
  const showAs = (way: string) => {
    if (way === "json") return setJson(JSON.stringify(filtersFromRows(rows), null, 2));
    setRows(listConditions(filters ?? {}));
    setJson(undefined);
  };
  const changeAction = (next: Subscription["action_type"]) => {
    setAction(next);
    setConfig(next === subscription?.action_type ? subscription.action_config : {});
  };
  return {
    type,
    setType,
    rows,
    setRows,
    json,
    setJson,
    action,
    changeAction,
    config,
    setConfig,
    filters,
    isStorable,
    hasChanges,
    showAs,
    save,
  };
}

function SubscriptionBuilder({ of: subscription }: { of?: Subscription }) {
  const navigate = useNavigate();
  const mayWrite = usePermissionCheck()("events:write");
  const editing = useSubscriptionEditing(subscription);
  const { type, rows, json, filters, save } = editing;
  const kinds = useQuery(eventKindsQuery);
  const last = useQuery(lastEventsQuery(type));
  const { form, rest, problemOf } = useFieldProblems<"event_type" | "filters" | "action_config", HTMLDivElement>(
    save.error,
    ["event_type", "filters", "action_config"],
  );
  const kind = kinds.data?.find(({ name }) => name === type);
  const names = kinds.data?.map(({ name }) => name) ?? [];
  const patterns = [...new Set(names.map((name) => `${name.split(".")[0]}.*`))];
  const handleSave = () =>
    save.mutate(undefined, {
      onSuccess: () => {
        showToast(say("saved"));
        void navigate({ to: "/events/subscriptions", ignoreBlocker: true });
      },
    });
  return (
    <>
      <div className={style.builder} ref={form}>
        <Sheet width={SHEET_WIDTH}>
          {subscription?.last_error && <Note tone="bad">{subscription.last_error}</Note>}
          <ProblemNote>{save.error ? rest || asApiError(save.error).message : ""}</ProblemNote>
          <SheetSection title={say("whenThis")}>
            <Autocomplete
              aria-label={say("type")}
              description={kind?.description ?? say("typeHint")}
              inputWrapperOrder={["input", "description", "error"]}
              error={problemOf("event_type")}
              maxLength={200}
              maxDropdownHeight={280}
              data={["*", ...patterns, ...names]}
              value={type}
              onChange={editing.setType}
            />
          </SheetSection>
          <ConditionSection
            rows={rows}
            json={json}
            filters={filters}
            isStorable={editing.isStorable}
            paths={listFieldPaths(kind, last.data ?? [])}
            problem={problemOf("filters")}
            onRows={editing.setRows}
            onJson={editing.setJson}
            onWay={editing.showAs}
          />
          <SheetSection title={say("doThat")}>
            <ActionFields
              type={editing.action}
              config={editing.config}
              problem={problemOf("action_config")}
              onType={editing.changeAction}
              onConfig={editing.setConfig}
            />
          </SheetSection>
        </Sheet>
        <MatchPreview type={type.trim()} filters={filters ?? {}} />
      </div>
      <LeaveQuestion hasChanges={mayWrite && editing.hasChanges} />
      {mayWrite && (
        <BuilderFoot
          isNew={!subscription}
          isBusy={save.isPending}
          isReady={Boolean(type.trim() && editing.isStorable)}
          onSave={handleSave}
        />
      )}
    </>
  );
}

type ConditionProps = {
  rows: ReturnType<typeof listConditions>;
  json: string | undefined;
  /** Undefined if the JSON is none. */
  filters: EventData | undefined;
  isStorable: boolean;
  paths: string[];
  problem: string | undefined;
  onRows: (rows: ReturnType<typeof listConditions>) => void;
  onJson: (json: string) => void;
  onWay: (way: string) => void;
};

/** What the data of an event must say, in rows or as the object that is stored. */
function ConditionSection({ rows, json, filters, isStorable, paths, problem, onRows, onJson, onWay }: ConditionProps) {
  // The other form is offered only where nothing is lost on the way to it.
  const fitsRows = filters !== undefined && fitsConditionRows(filters);
  const ways = [
    { value: "rows", label: say("asConditions"), disabled: json !== undefined && !fitsRows },
    { value: "json", label: "JSON", disabled: json === undefined && !isStorable },
  ];
  const way = json === undefined ? "rows" : "json";
  return (
    <SheetSection
      title={say("andThis")}
      actions={<SegmentedControl aria-label={say("writtenAs")} data={ways} value={way} onChange={onWay} />}
    >
      {json === undefined ? (
        <ConditionFields rows={rows} paths={paths} onChange={onRows} />
      ) : (
        <JsonInput
          aria-label={say("asConditions")}
          autosize
          minRows={4}
          maxRows={16}
          error={filters ? undefined : say("notAnObject")}
          description={filters && !fitsRows ? say("onlyAsJson") : undefined}
          value={json}
          onChange={onJson}
        />
      )}
      {problem && <ProblemNote>{problem}</ProblemNote>}
      <p className="t-12 t-3">{say("allMustHold")}</p>
    </SheetSection>
  );
}

type FootProps = { isNew: boolean; isBusy: boolean; isReady: boolean; onSave: () => void };

const BuilderFoot = ({ isNew, isBusy, isReady, onSave }: FootProps) => (
  <div className={style.foot}>
    <span className="t-13 t-2 grow">{say("pastStays")}</span>
    <Button variant="default" renderRoot={(props) => <Link {...props} to="/events/subscriptions" />}>
      {general("cancel")}
    </Button>
    <Button loading={isBusy} disabled={!isReady} onClick={onSave}>
      {say(isNew ? "create" : "save")}
    </Button>
  </div>
);
