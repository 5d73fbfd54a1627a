import { sleep } from '@pipeline/runtime';
import { type CheckRecord, type CiJob, GLOBAL, type RepoRecord, type Runner, type Sandbox } from '../state/model.ts';
import { change } from '../state/sandbox.ts';
import { addRun, updateRun } from './checks.ts';

const BY = 'github-actions[bot]';

/**
 * Runs the jobs of repositories with the setting `ci`: one check run per job on each head of an open pull request
 * and of the merge queue.
 * Runs that a stop of the process interrupted start again with the next one.
 */
export class Ci implements Runner {
  readonly #sandbox: () => Sandbox;
  readonly #running = new Map<number, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(sandbox: () => Sandbox) {
    this.#sandbox = sandbox;
  }

  consider({ id }: Pick<RepoRecord, 'id'>): void {
    const sandbox = this.#sandbox();
    const repo = sandbox.state.get('repo', GLOBAL, id);
    if (!repo?.ci?.length || this.#stop.signal.aborted) return;
    change(sandbox, () => createRuns(sandbox, repo));
    for (const run of sandbox.state.list('check', repo.id)) {
      if (run.log === undefined || run.status === 'completed' || this.#running.has(run.id)) continue;
      const job = repo.ci.find(({ name }) => name === run.name);
      if (!job) continue;
      const ran = this.#run(repo, run, job).finally(() => this.#running.delete(run.id));
      this.#running.set(run.id, ran);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }

  async #run(repo: RepoRecord, run: CheckRecord, job: CiJob): Promise<void> {
    const sandbox = this.#sandbox();
    const started = updateRun(sandbox, repo, run, { edit: { status: 'in_progress' }, by: BY });
    if (job.outcome === 'never') return;
    await sleep(job.seconds * 1_000, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    const conclusion = passes(sandbox, repo, started, job) ? 'success' : 'failure';
    const log = conclusion === 'success' ? `${job.name}: all passed\n` : job.log;
    const attempt = String(Number(started.externalId ?? 0) + 1);
    updateRun(sandbox, repo, started, { edit: { status: 'completed', conclusion, log, externalId: attempt }, by: BY });
  }
}

function createRuns(sandbox: Sandbox, repo: RepoRecord): void {
  const { state } = sandbox;
  const suites = state.list('suite', repo.id).filter(({ appId }) => appId === null);
  const heads = state
    .list('issue', repo.id)
    .flatMap((issue) => (issue.state === 'open' ? (issue.pull?.headSha ?? []) : []));
  const groups = state.list('queueEntry', repo.id).flatMap(({ group }) => group?.sha ?? []);
  for (const sha of new Set([...heads, ...groups])) {
    if (suites.some((suite) => suite.sha === sha)) continue;
    for (const { name } of repo.ci ?? []) {
      const run = { sha, name, status: 'queued' as const, conclusion: null, log: '', externalId: '0' };
      addRun(sandbox, repo, { run, appId: null, by: BY });
    }
  }
}

function passes({ state }: Sandbox, repo: RepoRecord, run: CheckRecord, { outcome }: CiJob): boolean {
  if (outcome === 'flaky') return Number(run.externalId ?? 0) > 0;
  if (outcome !== 'first-fails') return outcome === 'success';
  const suites = state.list('suite', repo.id);
  const own = suites.find(({ id }) => id === run.suiteId);
  return suites.some(({ branch, id }) => branch !== null && branch === own?.branch && id < own.id);
}
