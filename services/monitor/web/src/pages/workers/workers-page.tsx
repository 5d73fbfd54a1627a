import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatMinutes } from '@pipeline/web/format/duration.ts';
import { formatPercent, plural } from '@pipeline/web/format/number.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import { useQuery } from '@tanstack/react-query';
import { startAction } from '../../actions/perform.ts';
import { drainPlan, reclaimPlan } from '../../actions/worker-actions.ts';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './workers.module.css';

type Worker = Reply<'workerFloor'>['items'][number];

const POLL_MS = 5_000;
/** A worker is offline when its heartbeat is older. */
const SILENT_MS = 30_000;
const START = "pipeline-worker --server http://127.0.0.1:8080 --tasks develop,review --exec './my-agent'";

/** Page of the workers with their tasks, stuck ones included. */
export default function WorkersPage() {
  const { repo } = useRepo();
  const floor = useQuery(read('workerFloor', {}, POLL_MS));
  // A worker without a task may serve any repository.
  const workers = (floor.data?.items ?? []).filter(
    ({ currentTask }) => repo === undefined || currentTask === null || currentTask.repo === repo,
  );
  return (
    <Page title="Workers">
      <Panel
        title={floor.data ? plural(workers.length, 'worker') : 'Workers'}
        metrics={['worker_count']}
        query={floor}
        height={300}
      >
        {() =>
          workers.length === 0 ? (
            <EmptyNote title="No worker is online. This command starts one:">
              <pre>{START}</pre>
              <CopyButton text={START} what="command" />
            </EmptyNote>
          ) : (
            <ul className={styles.cards}>
              {workers.toSorted(byTrouble).map((worker) => (
                <WorkerCard key={worker.id} worker={worker} />
              ))}
            </ul>
          )
        }
      </Panel>
    </Page>
  );
}

function WorkerCard({ worker }: { worker: Worker }) {
  const { id, name, status, draining, alert, lastHeartbeat, utilization8hPct, queueDepth } = worker;
  const now = useNow();
  const isSilent = lastHeartbeat === null || now - Date.parse(lastHeartbeat) > SILENT_MS;
  return (
    <li className={styles.card} data-silent={isSilent || undefined} data-alert={alert !== null || undefined}>
      <header className={styles.head}>
        <h3 title={`${name} (${id})`}>{name}</h3>
        <span className={styles.status}>
          {alert && <Glyph name="warning" colour="--danger" />}
          {draining && status !== 'draining' ? `${status}, draining` : status}
        </span>
      </header>
      {alert && (
        <p className={styles.alert}>
          {alert.reason} <When at={alert.since} />
          {alert.humanAssignee && `, ask ${alert.humanAssignee}`}
        </p>
      )}
      <CurrentTask task={worker.currentTask} />
      <p className={styles.facts}>
        <span>
          heartbeat <When at={lastHeartbeat} />
        </span>
        <span>{plural(queueDepth, 'task')} waiting</span>
      </p>
      <p className={styles.use} title="Share of its online time in the last 8 hours with a task">
        <span className={styles.track}>
          <span className={styles.part} style={{ width: `${utilization8hPct}%` }} />
        </span>
        {formatPercent(utilization8hPct)} used in 8 h
      </p>
      <footer className={styles.buttons}>
        <Button onPress={() => startAction(drainPlan(id, name, !draining))}>{draining ? 'Resume' : 'Drain'}</Button>
        {worker.currentTask && <Button onPress={() => startAction(reclaimPlan(id, name))}>Reclaim …</Button>}
      </footer>
    </li>
  );
}

function CurrentTask({ task }: { task: Worker['currentTask'] }) {
  if (task === null) return <p className={styles.idle}>no task</p>;
  return (
    <p>
      {inWords(task.type)}{' '}
      {task.issueNumber === null ? task.repo : <IssueLink repo={task.repo} issueNumber={task.issueNumber} />}
      <span className={styles.eta}>
        {task.etaMinutes === null
          ? ''
          : task.etaMinutes === 0
            ? ' longer than usual'
            : ` about ${formatMinutes(task.etaMinutes)} left`}
      </span>
    </p>
  );
}

const rankOf = ({ alert, idle }: Worker): number => (alert !== null ? 0 : idle ? 2 : 1);

/** Workers with an alert first, then those with a task, then idle ones; by name among equals. */
const byTrouble = (a: Worker, b: Worker): number => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);
