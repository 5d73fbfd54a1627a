import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ProjectionAction, ProjectionType } from '@pipeline/domain';
import { ANNA, createSandboxEnvironment, openIssue, REPO, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { createStrictCheck } from './strict.ts';

let environment: SandboxEnvironment;
let serial = 0;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const AT = '/repos/acme/shop';
/** Reads the state on the host afterwards. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
const shown = async (path: string): Promise<any> =>
  (await environment.api('GET', `${AT}${path}`, undefined, ANNA.token)).data;
const labels = async (issue: number) =>
  (await shown(`/issues/${issue}`)).labels.map((each: { name: string }) => each.name);
const comments = async (issue: number) =>
  (await shown(`/issues/${issue}/comments`)).map((each: { body: string }) => each.body.split('\n')[0]);

interface Scene {
  issue: number;
  branch: string;
  head: string;
  /** Opens a pull request of the branch. */
  pull(): Promise<number>;
}

async function sceneOf(): Promise<Scene> {
  serial += 1;
  const branch = `variant-${serial}`;
  const issue = await openIssue(environment);
  const head = await environment.push(branch, `${branch}.txt`, 'text\n');
  return { issue, branch, head, pull: async () => numberOf(await environment.execute(createPR(branch), issue)) };
}

const createPR = (branch: string): ProjectionAction => ({
  type: 'createPR',
  head: branch,
  base: 'main',
  title: 'Change',
  body: 'Refs',
  draft: false,
  marker: branch,
});
type Updated = { created: { sha: string } };
const numberOf = (result: unknown) => (result as { created: { number: number } }).created.number;

/** Returns an action for a scene, how to read its effect from the host, and the expected effect. */
type Variant<T extends ProjectionType> = (
  scene: Scene,
) => Promise<
  [action: Extract<ProjectionAction, { type: T }>, shows: (result: unknown) => Promise<unknown>, expected: unknown]
>;

const VARIANTS: { [T in ProjectionType]: Variant<T> } = {
  addLabels: async ({ issue }) => [{ type: 'addLabels', labels: ['svc:new'] }, () => labels(issue), ['svc:new']],
  removeLabels: async ({ issue }) => {
    await environment.execute({ type: 'addLabels', labels: ['svc:a', 'b'] }, issue);
    return [{ type: 'removeLabels', labels: ['svc:a', 'none'] }, () => labels(issue), ['b']];
  },
  swapLabels: async ({ issue }) => {
    await environment.execute({ type: 'addLabels', labels: ['svc:a', 'b'] }, issue);
    return [{ type: 'swapLabels', remove: ['svc:a'], add: ['svc:c'] }, () => labels(issue), ['b', 'svc:c']];
  },
  closeIssue: async ({ issue }) => [
    { type: 'closeIssue', reason: 'not_planned', comment: 'Bye.' },
    async () => [
      (await shown(`/issues/${issue}`)).state,
      (await shown(`/issues/${issue}`)).state_reason,
      await comments(issue),
    ],
    ['closed', 'not_planned', ['Bye.']],
  ],
  reopenIssue: async ({ issue }) => {
    await environment.execute({ type: 'closeIssue', reason: 'completed', comment: null }, issue);
    return [{ type: 'reopenIssue' }, async () => (await shown(`/issues/${issue}`)).state, 'open'];
  },
  postComment: async ({ issue }) => [
    { type: 'postComment', body: 'Hello', marker: 'm' },
    () => comments(issue),
    ['Hello'],
  ],
  updateComment: async ({ issue }) => {
    await environment.execute({ type: 'updateComment', body: 'Before', marker: 'm' }, issue);
    return [{ type: 'updateComment', body: 'After', marker: 'm' }, () => comments(issue), ['After']];
  },
  createIssue: async () => [
    { type: 'createIssue', title: 'Part', body: 'Do', labels: ['svc:enqueue'], marker: 'part' },
    async (result) => [(await shown(`/issues/${numberOf(result)}`)).title, await labels(numberOf(result))],
    ['Part', ['svc:enqueue']],
  ],
  linkSubIssue: async ({ issue }) => {
    const childIssueNumber = await openIssue(environment);
    return [
      { type: 'linkSubIssue', parentIssueNumber: issue, childIssueNumber },
      async () => (await shown(`/issues/${issue}/sub_issues`)).map((each: { number: number }) => each.number),
      [childIssueNumber],
    ];
  },
  assignIssue: async ({ issue }) => [
    { type: 'assignIssue', assignees: ['anna'] },
    async () => (await shown(`/issues/${issue}`)).assignees.map((each: { login: string }) => each.login),
    ['anna'],
  ],
  createPR: async ({ branch }) => [
    createPR(branch) as Extract<ProjectionAction, { type: 'createPR' }>,
    async (result) => (await shown(`/pulls/${numberOf(result)}`)).head.ref,
    branch,
  ],
  updatePR: async ({ pull }) => {
    const prNumber = await pull();
    return [
      { type: 'updatePR', prNumber, title: 'Better', draft: true },
      async () => [(await shown(`/pulls/${prNumber}`)).title, (await shown(`/pulls/${prNumber}`)).draft],
      ['Better', true],
    ];
  },
  requestReview: async ({ pull }) => {
    const prNumber = await pull();
    const reviewers = async () =>
      (await shown(`/pulls/${prNumber}`)).requested_reviewers.map((each: { login: string }) => each.login);
    return [{ type: 'requestReview', prNumber, reviewers: ['anna'] }, reviewers, ['anna']];
  },
  submitReview: async ({ pull, branch }) => {
    const prNumber = await pull();
    const comment = { path: `${branch}.txt`, line: 1, body: 'Why?' };
    return [
      { type: 'submitReview', prNumber, event: 'comment', body: 'Hm.', comments: [comment] },
      async () => (await environment.host.listReviews(REPO, prNumber)).map(({ verdict }) => verdict),
      ['commented'],
    ];
  },
  mergePR: async ({ pull, head }) => {
    const prNumber = await pull();
    return [
      { type: 'mergePR', prNumber, method: 'squash', expectedHeadSha: head },
      async () => (await shown(`/pulls/${prNumber}`)).merged,
      true,
    ];
  },
  updateBranch: async ({ pull, head, branch }) => {
    const prNumber = await pull();
    await environment.push('main', `base-of-${branch}.txt`, 'text\n');
    return [
      { type: 'updateBranch', prNumber, expectedHeadSha: head },
      async (result) => (await shown(`/pulls/${prNumber}`)).head.sha === (result as Updated).created.sha,
      true,
    ];
  },
  closePR: async ({ pull }) => {
    const prNumber = await pull();
    return [
      { type: 'closePR', prNumber, comment: 'Again.' },
      async () => [(await shown(`/pulls/${prNumber}`)).state, await comments(prNumber)],
      ['closed', ['Again.']],
    ];
  },
  deleteBranch: async ({ branch }) => [
    { type: 'deleteBranch', branch },
    () => environment.git(['ls-remote', `${environment.sandbox.url}/acme/shop.git`, branch]),
    '',
  ],
  setCommitStatus: async ({ head }) => [
    { type: 'setCommitStatus', sha: head, context: 'svc/review', state: 'failure', description: 'no', targetUrl: null },
    async () => (await shown(`/commits/${head}/status`)).state,
    'failure',
  ],
};

test.each(Object.keys(VARIANTS) as ProjectionType[])(
  '%s is carried out, in the form that the host describes',
  async (type) => {
    const check = createStrictCheck();
    const scene = await sceneOf();
    const [action, shows, expected] = await VARIANTS[type](scene);
    const before = environment.exchanges.length;
    const result = await environment.execute(action, scene.issue);
    expect(result).toMatchObject({ status: 'ok' });
    expect(await shows(result)).toEqual(expected);
    const sent = environment.exchanges.slice(before);
    expect(sent.flatMap((exchange) => check.violations(exchange))).toEqual([]);
    expect(sent.filter(({ method }) => method !== 'GET').length).toBeGreaterThan(0);
    const again = await environment.execute(action, scene.issue, true);
    expect(['ok', 'refused']).toContain(again.status);
    expect(await shows(result)).toEqual(expected);
  },
);
