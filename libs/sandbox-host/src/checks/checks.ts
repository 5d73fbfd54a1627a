import { renderRepo, renderUser } from '../render/basics.ts';
import type { CheckRecord, RepoRecord, Sandbox, StatusRecord, SuiteRecord } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';
import { renderCheck, renderStatusEvent, renderSuite } from './render.ts';
import { pullsAt } from './verdicts.ts';

type NewStatus = Pick<StatusRecord, 'sha' | 'context' | 'state' | 'description' | 'targetUrl' | 'author' | 'appId'>;

const around = (sandbox: Sandbox, repo: RepoRecord, sender: string) => ({
  repository: renderRepo(sandbox, repo),
  sender: renderUser(sandbox, sender),
});

/** The merge queue may go on after it. */
function changeChecks<T>(sandbox: Sandbox, repo: RepoRecord, work: () => T): T {
  const result = change(sandbox, work);
  sandbox.queue.consider(repo);
  return result;
}

/** Stores a commit status and sends the webhook `status`. */
export function addStatus(sandbox: Sandbox, repo: RepoRecord, fresh: NewStatus): StatusRecord {
  return changeChecks(sandbox, repo, () => {
    const record = { id: sandbox.state.nextId(), ...fresh, createdAt: timestamp(sandbox) };
    sandbox.state.put('status', repo.id, record);
    const payload = { ...renderStatusEvent(sandbox, repo, record), ...around(sandbox, repo, record.author) };
    sandbox.deliveries.emit('status', payload);
    return record;
  });
}

/** The suite of an app on a commit; the first check of a commit makes it. */
export function suiteOf(sandbox: Sandbox, repo: RepoRecord, { sha, appId }: { sha: string; appId: number | null }) {
  const known = sandbox.state.list('suite', repo.id).find((each) => each.sha === sha && each.appId === appId);
  if (known) return known;
  const at = timestamp(sandbox);
  const branch = branchOf(sandbox, repo, sha);
  const suite: SuiteRecord = { id: sandbox.state.nextId(), sha, branch, appId, createdAt: at, updatedAt: at };
  sandbox.state.put('suite', repo.id, suite);
  return suite;
}

/** A commit that the merge queue tests counts as one of the branch that it merges. */
function branchOf(sandbox: Sandbox, repo: RepoRecord, sha: string): string | null {
  const queued = sandbox.state.list('queueEntry', repo.id).find(({ group }) => group?.sha === sha);
  const [pull] = queued ? [sandbox.state.get('issue', repo.id, queued.pullNumber)] : pullsAt(sandbox, repo, sha);
  return pull?.pull?.headRef ?? null;
}

type NewRun = Pick<CheckRecord, 'sha' | 'name' | 'status' | 'conclusion'> &
  Partial<Pick<CheckRecord, 'detailsUrl' | 'externalId' | 'output' | 'log' | 'startedAt' | 'completedAt'>>;

/** Stores a check run and sends `check_run`; the last run of a suite to end also sends `check_suite`. */
export function addRun(
  sandbox: Sandbox,
  repo: RepoRecord,
  { run, appId, by }: { run: NewRun; appId: number | null; by: string },
): CheckRecord {
  return changeChecks(sandbox, repo, () => {
    const suite = suiteOf(sandbox, repo, { sha: run.sha, appId });
    const at = timestamp(sandbox);
    const completedAt = run.status === 'completed' ? (run.completedAt ?? at) : null;
    const record = { startedAt: at, ...run, id: sandbox.state.nextId(), suiteId: suite.id, completedAt };
    sandbox.state.put('check', repo.id, record);
    announceRun(sandbox, repo, record, { action: 'created', by });
    if (record.status === 'completed') ended(sandbox, repo, record, by);
    return record;
  });
}

/** Changes a check run. A completed one may be completed again: another attempt of the same job. */
export function updateRun(
  sandbox: Sandbox,
  repo: RepoRecord,
  record: CheckRecord,
  { edit, by }: { edit: Partial<NewRun>; by: string },
): CheckRecord {
  return changeChecks(sandbox, repo, () => {
    const merged = { ...record, ...edit };
    const completedAt = merged.status === 'completed' ? (edit.completedAt ?? timestamp(sandbox)) : null;
    const saved = { ...merged, completedAt };
    sandbox.state.put('check', repo.id, saved);
    if (saved.status === 'completed') ended(sandbox, repo, saved, by);
    return saved;
  });
}

/** Another attempt is wanted: its app is notified, and the run waits again. */
export function rerequestRun(sandbox: Sandbox, repo: RepoRecord, record: CheckRecord, by: string): CheckRecord {
  return change(sandbox, () => {
    const saved = { ...record, status: 'queued' as const, conclusion: null, completedAt: null };
    sandbox.state.put('check', repo.id, saved);
    announceRun(sandbox, repo, saved, { action: 'rerequested', by });
    return saved;
  });
}

function ended(sandbox: Sandbox, repo: RepoRecord, record: CheckRecord, by: string): void {
  announceRun(sandbox, repo, record, { action: 'completed', by });
  const suite = record.suiteId === undefined ? undefined : sandbox.state.get('suite', repo.id, record.suiteId);
  if (!suite) return;
  const saved = { ...suite, updatedAt: timestamp(sandbox) };
  sandbox.state.put('suite', repo.id, saved);
  const rendered = renderSuite(sandbox, repo, saved);
  if (rendered.status !== 'completed') return;
  const payload = { action: 'completed', check_suite: rendered, ...around(sandbox, repo, by) };
  sandbox.deliveries.emit('check_suite', payload);
}

function announceRun(
  sandbox: Sandbox,
  repo: RepoRecord,
  record: CheckRecord,
  { action, by }: { action: 'created' | 'completed' | 'rerequested'; by: string },
): void {
  const suite = record.suiteId === undefined ? undefined : sandbox.state.get('suite', repo.id, record.suiteId);
  const run = renderCheck(sandbox, repo, record);
  const { repository: _, ...inside } = suite ? renderSuite(sandbox, repo, suite) : { repository: null };
  const payload = { action, check_run: { ...run, check_suite: inside }, ...around(sandbox, repo, by) };
  sandbox.deliveries.emit('check_run', payload);
}
