/** A repo with `mergeTrain: serial` on the sandbox host through the real adapter, with a CI that tests whole trees. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type TaskType } from '@pipeline/domain';
import { findIssueKey, transitionIssue } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { ANNA, BOT, createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { applyHostIssue, type Bench, hostIssue, makeBench } from '../harness.ts';
import { reportPull } from '../host-pulls.ts';
import { updateRepo } from '../repo-columns.ts';
import { completeTasks } from './sandbox-repo.ts';

const database = testDatabase();
let sandbox: SandboxEnvironment;
let bench: Bench;
let slug: string;
let clone: string;
let serial = 0;
/** Each round runs several git processes. */
const TIMEOUT_MS = 900_000;

interface Pull {
  number: number;
  state: string;
  merged_at: string | null;
  head: { sha: string; ref: string };
}

async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, data } = await sandbox.api(method, `/repos/${slug}${path}`, body, ANNA.token);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
  return data;
}

beforeAll(async () => {
  sandbox = await createSandboxEnvironment();
});
afterAll(() => sandbox.end());

beforeEach(async () => {
  serial += 1;
  database.clock.now = new Date();
  slug = `acme/train-${serial}`;
  await sandbox.sandbox.addRepo({ slug, collaborators: { [BOT.login]: 'write', anna: 'write' } });
  bench = await makeBench(database.store, { slug, tenant: slug.replace('/', '-') });
  await updateRepo({ ...bench, database }, { checks_policy: 'required', merge_train: 'serial' });
  clone = `${sandbox.dir}/clone-${serial}`;
  await sandbox.git(['clone', '-q', `${sandbox.sandbox.url.replace('//', `//x:${ANNA.token}@`)}/${slug}.git`, clone]);
});

const pulls = (state: string) => api<Pull[]>('GET', `/pulls?state=${state}&per_page=100`);
const headOf = async (issue: number) => {
  const found = (await pulls('all')).find(({ head }) => head.ref === `svc/issue-${issue}`);
  if (!found) throw new Error(`no pull request of ${issue}`);
  return found;
};

/** Each issue adds a file of its own. */
const work = (types: TaskType[]) =>
  completeTasks({ sandbox, bench, slug }, types, {
    fileOf: (number) => [`file-${number}.txt`, 'x\n'],
    headOf: async (number) => (await headOf(number)).head.sha,
  });

/** Returns whether the tree of a commit is broken: it contains the files of both issues. */
async function isRed(sha: string, [one, other]: readonly [number, number]): Promise<boolean> {
  const files = (await sandbox.git(['ls-tree', '--name-only', sha], clone)).split('\n');
  return files.includes(`file-${one}.txt`) && files.includes(`file-${other}.txt`);
}

const UNTIL_REVIEW = ['analyze', 'plan', 'develop'] as const;
const UNTIL_APPROVED = [...UNTIL_REVIEW, 'review'] as const;
const tested = new Set<string>();
/** Tests the heads of open pull requests once each. */
async function runCi(broken: readonly [number, number]): Promise<void> {
  await sandbox.git(['fetch', '-q', 'origin'], clone);
  for (const { head } of await pulls('open')) {
    if (tested.has(head.sha)) continue;
    tested.add(head.sha);
    const state = (await isRed(head.sha, broken)) ? 'failure' : 'success';
    await api('POST', `/statuses/${head.sha}`, { context: 'build', state });
  }
}

async function open(issues: number, types: readonly TaskType[] = UNTIL_APPROVED): Promise<void> {
  for (let number = 1; number <= issues; number += 1) {
    await api('POST', '/issues', { title: `Issue ${number}` });
    await applyHostIssue(bench, hostIssue(number));
  }
  for (const type of types) await work([type]);
}

/** Lets the poll interval pass. */
function pass(): void {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + 31_000);
}

/** Lets CI, the reviewer and the outbox work, and the poll interval pass. */
async function round(broken: readonly [number, number]): Promise<void> {
  await runCi(broken);
  await work(['review', 'merge']);
  pass();
}

const states = async () => {
  const rows = database.db.selectFrom('issues').select('state').where('repo_id', '=', bench.repo.id);
  return (await rows.orderBy('issue_number').execute()).map(({ state }) => state);
};
const triggers = async (trigger: string) => {
  const rows = database.db.selectFrom('transitions as t').innerJoin('issues as i', 'i.id', 't.issue_id');
  const found = rows.select('i.issue_number').where('i.repo_id', '=', bench.repo.id).where('t.trigger', '=', trigger);
  return (await found.orderBy('t.id').execute()).map(({ issue_number: number }) => number);
};

test(
  'merges four of five green pull requests and sends the broken one back when two conflict in meaning',
  async () => {
    const broken = [2, 4] as const;
    await open(5);
    for (let rounds = 0; rounds < 20 && (await states()).includes('merge-pending'); rounds += 1) await round(broken);
    await round(broken);
    expect(await states()).toEqual(['done', 'done', 'done', 'changes-requested', 'done']);
    expect(await triggers('checks-failed')).toEqual([4]);
    expect(await triggers('merged')).toEqual([1, 2, 3, 5]);
    // The first one was up to date.
    expect(await triggers('head-moved')).toEqual([2, 3, 4, 5]);
    await sandbox.git(['fetch', '-q', 'origin'], clone);
    const base = (await sandbox.git(['rev-list', '--reverse', 'origin/main'], clone)).split('\n');
    expect(base).toHaveLength(5);
    for (const sha of base) expect({ sha, isRed: await isRed(sha, broken) }).toEqual({ sha, isRed: false });
    for (const { head, merged_at: mergedAt } of await pulls('closed')) {
      const known = database.db.selectFrom('pull_requests').select(['merged', 'approved_sha']);
      expect(mergedAt).not.toBeNull();
      expect(await known.where('head_sha', '=', head.sha).executeTakeFirst()).toEqual({
        merged: true,
        approved_sha: head.sha,
      });
    }
  },
  TIMEOUT_MS,
);

test(
  'keeps the place of a front in review, and gives it to the next when a stranger pushes to it',
  async () => {
    const broken = [0, 0] as const;
    await open(3);
    await runCi(broken);
    await work(['merge']);
    expect(await states()).toEqual(['done', 'in-review', 'merge-pending']);
    pass();
    await work(['merge']);
    expect(await states()).toEqual(['done', 'in-review', 'merge-pending']);
    const { number } = await headOf(2);
    await sandbox.push('svc/issue-2', 'pushed.txt', 'x\n', { repo: slug, token: ANNA.token });
    const pushed = await sandbox.host.getPullRequest(bench.repo, number);
    await reportPull(bench, 'synchronize', { ...pushed, updatedAt: '2100-01-01T00:00:00Z' });
    // Without waiting for the poll interval.
    await work(['merge']);
    expect(await triggers('head-moved')).toEqual([2, 3]);
    for (let rounds = 0; rounds < 10 && (await states()).some((state) => state !== 'done'); rounds += 1)
      await round(broken);
    expect(await triggers('merged')).toEqual([1, 3, 2]);
  },
  TIMEOUT_MS,
);

test(
  'needs no further approval for an updated branch when a push does not dismiss that of a person',
  async () => {
    const review = { ...DEFAULT_SETTINGS.review, dismissStale: false };
    bench.engine.settings = () => ({ ...DEFAULT_SETTINGS, review });
    await open(2, UNTIL_REVIEW);
    for (const number of [1, 2]) {
      const key = await findIssueKey(bench.engine, { owner: bench.repo.owner, repo: bench.repo.name, number });
      await transitionIssue(bench.engine, key, 'merge-pending', { type: 'operator', id: 'olga', agent: null });
    }
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await runCi([0, 0]);
      await work(['merge']);
      pass();
    }
    expect(await states()).toEqual(['done', 'done']);
    expect(await triggers('head-moved')).toEqual([]);
    const updated = await sandbox.git(['log', '--format=%s', '-1', (await headOf(2)).head.sha], clone);
    expect(updated).toBe("Merge branch 'main' into svc/issue-2");
  },
  TIMEOUT_MS,
);
