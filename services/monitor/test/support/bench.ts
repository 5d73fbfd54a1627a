import { DEFAULT_SETTINGS, type HostIssue, type IssueAction, type Settings } from '@pipeline/domain';
import { applyHostEvent, type Engine, putRepo } from '@pipeline/engine';
import {
  type DeadLetterCause,
  ensureTenant,
  findIssue,
  insertDeadLetter,
  inTransaction,
  type RepoRow,
  type Store,
} from '@pipeline/store';

export interface Bench {
  engine: Engine;
  tenantId: number;
  repo: RepoRow;
  bells: string[];
}

export const engineOn = (store: Store, settings: Partial<Settings> = {}): Engine & { bells: string[] } => {
  const bells: string[] = [];
  return {
    store,
    notify: (bell) => void bells.push(bell),
    settings: () => ({ ...DEFAULT_SETTINGS, ...settings }),
    random: () => 0.5,
    bells,
  };
};

/** A tenant with one enabled repo, served by the sandbox. */
export async function makeBench(store: Store, slug: string, settings: Partial<Settings> = {}): Promise<Bench> {
  const engine = engineOn(store, settings);
  const [owner = '', name = ''] = slug.split('/');
  const tenantId = await ensureTenant(store.db, 'default');
  const repo = await putRepo(engine, tenantId, {
    slug: { owner, name },
    vcsHost: 'sandbox',
    cloneUrl: `http://127.0.0.1/${slug}.git`,
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled: true,
    checks: 'none',
  });
  return { engine, tenantId, repo, bells: engine.bells };
}

/** A webhook about an open issue. */
export async function tellIssue(
  { engine, repo }: Bench,
  number: number,
  { action, ...over }: Partial<HostIssue> & { action: IssueAction },
): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  const issue: HostIssue = {
    number,
    title: `Issue ${number}`,
    body: '',
    url: `http://127.0.0.1/${number}`,
    state: 'open',
    stateReason: null,
    labels: ['svc:enqueue'],
    author: 'anna',
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    ...over,
  };
  const host = {
    login: async () => 'pipeline-bot',
    isPerson: async () => false,
    permissionOf: async () => 'write',
    hasCreatedBranch: async () => false,
  } as never;
  await applyHostEvent({ engine, repo, host }, { kind: 'issue', action, repo, issue, sender: 'anna', label: null });
}

/** Lets an issue in as a webhook would; it is in `analyzing` afterwards. @returns its row's id. */
export async function admit(bench: Bench, number: number): Promise<number> {
  const { engine, repo, tenantId } = bench;
  await tellIssue(bench, number, { action: 'opened' });
  const row = await findIssue(engine.store.db, tenantId, repo.id, number);
  if (!row) throw new Error(`issue ${number} was not let in`);
  return row.id;
}

/** A transition that may be made after all, and one that never can be from `analyzing`. */
export const POSSIBLE: DeadLetterCause = {
  kind: 'decision',
  cause: { trigger: 'analyzed', outcome: { outcome: 'analyzed', result: {} } },
};
export const IMPOSSIBLE: DeadLetterCause = {
  kind: 'decision',
  cause: { trigger: 'approved', outcome: { outcome: 'approved', result: { body: '' } } },
};

export async function addDeadLetter(bench: Bench, number: number, cause: DeadLetterCause = POSSIBLE): Promise<string> {
  const issueId = await admit(bench, number);
  return inTransaction(bench.engine.store.db, (tx) =>
    insertDeadLetter(tx, bench.tenantId, {
      repoId: bench.repo.id,
      issueId,
      issueNumber: number,
      fromState: 'analyzing',
      targetState: 'planning',
      agentName: 'analyzer',
      error: `no edge for ${number}`,
      cause,
    }),
  );
}
