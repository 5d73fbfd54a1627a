import { verdictOf } from '../checks/verdicts.ts';
import { branchRef } from '../git/git.ts';
import { makeMerge } from '../git/merge.ts';
import { pullOf } from '../issues/changes.ts';
import { methodsOf, obstaclesOf } from '../protection/gate.ts';
import { rulesOf } from '../protection/rules.ts';
import { finishMerge, startMerge } from '../pulls/merge-record.ts';
import {
  GLOBAL,
  type MergeMethod,
  type PullIssue,
  type QueueEntryRecord,
  type RepoRecord,
  type Runner,
  type Sandbox,
} from '../state/model.ts';
import { change } from '../state/sandbox.ts';
import { setAutoMerge, waitingForMerge } from './auto-merge.ts';
import { addEntry, announceGroup, type RemovalReason, removeEntry } from './entries.ts';

const BY = 'github-merge-queue[bot]';

/** Next step for the first entry: another check at once, or none before something changes. */
type Step = 'again' | 'wait';

/** One merge by a person's order; nothing happens where the host refuses it. */
type TryMerge = (
  sandbox: Sandbox,
  repo: RepoRecord,
  order: { number: number; method: MergeMethod; by: string },
) => Promise<void>;

/**
 * Merges what people left to the host, and queued pull requests one after another: each is merged with the base branch on
 * a branch of the queue, whose commit becomes the base when its required checks are green. One that fails leaves the queue.
 */
export class MergeQueue implements Runner {
  readonly #sandbox: () => Sandbox;
  readonly #tryMerge: TryMerge;
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(sandbox: () => Sandbox, tryMerge: TryMerge) {
    this.#sandbox = sandbox;
    this.#tryMerge = tryMerge;
  }

  consider({ id }: Pick<RepoRecord, 'id'>): void {
    const sandbox = this.#sandbox();
    const isIdle = sandbox.state.list('queueEntry', id).length === 0 && waitingForMerge(sandbox, id).length === 0;
    if (this.#isStopped || isIdle) return;
    const run = sandbox
      .lock(id, () => this.#advance(id))
      .catch((error: unknown) => sandbox.log.warn(`merge queue of repository ${id}: ${String(error)}`))
      .finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #advance(id: number): Promise<void> {
    const sandbox = this.#sandbox();
    const ready = sandbox.state.get('repo', GLOBAL, id);
    if (ready) await mergeReady(sandbox, ready, this.#tryMerge);
    for (;;) {
      const repo = sandbox.state.get('repo', GLOBAL, id);
      const [entry] = sandbox.state.list('queueEntry', id);
      if (this.#isStopped || !repo || !entry) return;
      if ((await step(sandbox, repo, entry)) === 'wait') return;
    }
  }
}

/**
 * Merges what was left to the host and has nothing in its way any more, or puts it into the queue of its branch. One that
 * conflicts waits on. Runs under the lock of the repository.
 */
async function mergeReady(sandbox: Sandbox, repo: RepoRecord, tryMerge: TryMerge): Promise<void> {
  for (const issue of waitingForMerge(sandbox, repo.id)) {
    const { autoMerge } = issue.pull;
    if (!autoMerge) continue;
    const { method, by } = autoMerge;
    const obstacles = await obstaclesOf(sandbox, repo, issue, { login: by });
    if (obstacles.some(({ kind }) => kind !== 'queue')) continue;
    if (obstacles.length > 0) addEntry(sandbox, repo, setAutoMerge(sandbox, repo, issue, { method: null, by }), by);
    else await tryMerge(sandbox, repo, { number: issue.number, method, by });
  }
}

async function step(sandbox: Sandbox, repo: RepoRecord, entry: QueueEntryRecord): Promise<Step> {
  const issue = pullOf(sandbox, repo, entry.pullNumber);
  const leave = (reason: RemovalReason): Step => {
    removeEntry(sandbox, repo, issue, { entry, reason, by: BY });
    return 'again';
  };
  if (issue.state === 'closed' || issue.pull.headSha !== entry.headSha) return leave('UNKNOWN_REMOVAL_REASON');
  const base = await sandbox.git.resolve(sandbox.git.dir(repo), branchRef(issue.pull.baseRef));
  if (base === null) return leave('UNKNOWN_REMOVAL_REASON');
  if (entry.group?.baseSha !== base)
    return (await makeGroup(sandbox, repo, { entry, issue, base })) ?? leave('MERGE_CONFLICT');
  const { sha } = entry.group;
  const { checks } = rulesOf(sandbox, repo, issue.pull.baseRef);
  const wanted = checks.map((check) => verdictOf(sandbox, repo, sha, check) ?? 'pending');
  if (wanted.includes('failure')) return leave('CI_FAILURE');
  if (wanted.includes('pending')) return 'wait';
  const obstacles = await obstaclesOf(sandbox, repo, issue, { login: entry.by, fromQueue: true });
  if (obstacles.some(({ kind }) => kind === 'reviews')) return leave('BRANCH_PROTECTIONS');
  await merge(sandbox, repo, { entry, issue, base, sha: entry.group.sha });
  return leave('MERGE');
}

interface Queued {
  entry: QueueEntryRecord;
  issue: PullIssue;
  base: string;
}

/** Makes the commit that is tested. @returns null when the branch conflicts with the base. */
async function makeGroup(sandbox: Sandbox, repo: RepoRecord, { entry, issue, base }: Queued): Promise<Step | null> {
  const { git } = sandbox;
  const dir = git.dir(repo);
  const [method = 'merge'] = methodsOf(sandbox, repo, issue.pull.baseRef);
  const message = `${issue.title} (#${issue.number})`;
  const order = { base, head: entry.headSha, method, message, author: entry.by, at: sandbox.now() };
  const sha = await makeMerge(git, dir, order);
  if (sha === null) return null;
  const ref = `refs/heads/gh-readonly-queue/${issue.pull.baseRef}/pr-${issue.number}-${base}`;
  await git.run(dir, ['update-ref', ref, sha]);
  change(sandbox, () => {
    const saved = { ...entry, group: { baseSha: base, sha, ref } };
    sandbox.state.put('queueEntry', repo.id, saved);
    announceGroup(sandbox, repo, saved);
  });
  sandbox.ci.consider(repo);
  return 'again';
}

async function merge(sandbox: Sandbox, repo: RepoRecord, { entry, issue, base, sha }: Queued & { sha: string }) {
  const { git } = sandbox;
  startMerge(sandbox, repo, issue.number, { sha, by: entry.by });
  await git.run(git.dir(repo), ['update-ref', branchRef(issue.pull.baseRef), sha, base]);
  finishMerge(sandbox, repo, issue.number);
}
