import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { FilterSelect } from "../../shared/list/filter_select";
import { PageSwitcher } from "../../shared/list/pages";
import { ListWithPanel } from "../../shared/patterns/side_panel";
import { EmptyState } from "../../shared/states/empty";
import { FailureState, RowSkeletons } from "../../shared/states/states";
import { JOB_STATUSES, type JobFilters } from "./filters";
import { QueuedJobPanel } from "./job_panel";
import { QueuedJobTable } from "./job_table";
import style from "./operate.module.css";
import { OperatePage } from "./operate_page";
import { jobsQuery, overviewQuery, ROWS_PER_PAGE, useOrganizationNames } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");
const PANEL_WIDTH = 380;

/** Jobs of all organizations that wait, run or were given up; what is done is not kept. */
export default function QueuedJobsPage() {
  const filters = useSearch({ from: "/frame/operate/jobs" });
  const navigate = useNavigate();
  const list = useQuery(jobsQuery(filters));
  const nameOf = useOrganizationNames();
  const changeFilters = (change: Partial<JobFilters>) =>
    void navigate({ to: "/operate/jobs", search: { ...filters, page: undefined, ...change }, replace: true });
  const closePanel = () => changeFilters({ id: undefined, page: filters.page });
  const jobs = list.data?.data;
  const opened = jobs?.find(({ id }) => id === filters.id);
  return (
    <OperatePage tab="jobs">
      <ListWithPanel
        width={PANEL_WIDTH}
        panel={
          opened && (
            <QueuedJobPanel key={opened.id} job={opened} organization={nameOf(opened.tenant_id)} onClose={closePanel} />
          )
        }
      >
        {list.error && !jobs ? (
          <FailureState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <div className={style.scroll}>
            <JobToolbar filters={filters} onChange={changeFilters} />
            {!jobs && <RowSkeletons columns={[200, 100, 120, 80]} />}
            {jobs?.length === 0 && <NoJobs filters={filters} onClear={() => changeFilters({ queue: undefined })} />}
            {jobs && jobs.length > 0 && <QueuedJobTable jobs={jobs} filters={filters} nameOf={nameOf} />}
            <PageSwitcher
              page={filters.page ?? 1}
              perPage={ROWS_PER_PAGE}
              total={list.data?.pagination.total ?? 0}
              onChange={(page) => changeFilters({ page, id: undefined })}
            />
          </div>
        )}
      </ListWithPanel>
    </OperatePage>
  );
}

function NoJobs({ filters: { status = "failed", queue }, onClear }: { filters: JobFilters; onClear: () => void }) {
  return (
    <EmptyState
      title={say(status === "failed" ? "noFailedTitle" : "noJobsTitle")}
      actions={
        queue && (
          <Button variant="default" onClick={onClear}>
            {say("clear")}
          </Button>
        )
      }
    >
      {queue ? say("noJobsInQueue", { queue }) : say(status === "failed" ? "noFailed" : "noJobs")}
    </EmptyState>
  );
}

type JobToolbarProps = { filters: JobFilters; onChange: (change: Partial<JobFilters>) => void };

function JobToolbar({ filters, onChange }: JobToolbarProps) {
  const { data: overview } = useQuery(overviewQuery);
  const names = overview?.queues.map(({ name }) => name).sort() ?? [];
  const queues = filters.queue && !names.includes(filters.queue) ? [...names, filters.queue] : names;
  return (
    <div className="toolbar">
      <SegmentedControl
        aria-label={say("state")}
        data={[...JOB_STATUSES, "all" as const].map((value) => ({ value, label: say(`show_${value}`) }))}
        value={filters.status ?? "failed"}
        onChange={(value) =>
          onChange({
            id: undefined,
            status: (["all", "waiting", "running"] as const).find((one) => one === value),
          })
        }
      />
      <FilterSelect
        w={180}
        label={say("queue")}
        any={say("anyQueue")}
        choices={queues}
        value={filters.queue}
        onChange={(queue) => onChange({ queue, id: undefined })}
      />
    </div>
  );
}
