import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  APP_KEY,
  BOT,
  ciToken,
  createSandboxEnvironment,
  openIssue,
  REPO,
  type SandboxEnvironment,
  STRANGER,
} from '@pipeline/testing/sandbox';
import { createGitHubAppHost } from '../src/github/index.ts';

let environment: SandboxEnvironment;
let ci: string;
let serial = 0;
let branch: string;
let head: string;
let prNumber: number;
const PEOPLE = { [BOT.login]: 'write', anna: 'admin' } as const;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
  ci = await ciToken(environment);
});
afterAll(() => environment.end());
beforeEach(async () => {
  serial += 1;
  branch = `checked-${serial}`;
  await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE });
  await environment.api('DELETE', `${AT}/branches/main/protection`, undefined, ANNA.token);
  head = await environment.push(branch, `${branch}.txt`, 'x\n');
  const action = { type: 'createPR', head: branch, base: 'main', title: 'A change', body: '', draft: false } as const;
  const made = await environment.execute({ ...action, marker: branch }, await openIssue(environment));
  prNumber = (made as { created: { number: number } }).created.number;
});

const AT = '/repos/acme/shop';
const status = (context: string, state: string) =>
  environment.api('POST', `${AT}/statuses/${head}`, { context, state }, ANNA.token);
const run = (name: string, more: object = {}) =>
  environment.api('POST', `${AT}/check-runs`, { name, head_sha: head, ...more }, ci);
const protect = (contexts: string[], strict = false) =>
  environment.api(
    'PUT',
    `${AT}/branches/main/protection`,
    {
      required_status_checks: { strict, contexts },
      enforce_admins: false,
      required_pull_request_reviews: null,
      restrictions: null,
    },
    ANNA.token,
  );
const merge = () => environment.execute({ type: 'mergePR', prNumber, method: 'squash', expectedHeadSha: head });
/** Without what was kept of earlier reads. */
const rules = (token = BOT.token) => environment.as(token).mergeRulesOf(REPO, 'main');

test('isBehind is true when the branch has commits that the head lacks', async () => {
  const { host } = environment;
  expect(await host.isBehind(REPO, 'main', head)).toBe(false);
  await environment.push('main', `base-${serial}.txt`, 'x\n');
  expect(await host.isBehind(REPO, 'main', head)).toBe(true);
  expect(await host.isBehind(REPO, 'main', '0'.repeat(40))).toBe(false);
});

describe('the checks of a commit', () => {
  test('lists runs and statuses, without those of the pipeline', async () => {
    await run('build', { conclusion: 'failure' });
    await run('build', { conclusion: 'skipped' });
    await run('lint', { status: 'in_progress' });
    for (const conclusion of ['cancelled', 'action_required']) await run(conclusion, { conclusion });
    await status('deploy', 'error');
    await status('svc/review', 'success');
    const found = await environment.host.checksOf(REPO, head);
    expect(found.map(({ kind, name, state, conclusion }) => [kind, name, state, conclusion]).sort()).toEqual([
      ['check-run', 'action_required', 'pending', 'action_required'],
      ['check-run', 'build', 'success', 'skipped'],
      ['check-run', 'cancelled', 'pending', 'cancelled'],
      ['check-run', 'lint', 'pending', null],
      ['status', 'deploy', 'failure', 'error'],
    ]);
  });

  test('lists the runs of one name in two suites apart', async () => {
    await run('build', { conclusion: 'failure' });
    const permissions = { checks: 'write', statuses: 'write' } as const;
    const app = { id: 79, slug: 'other-ci', publicKey: APP_KEY.publicKey, owners: ['acme'], permissions };
    environment.sandbox.addApp(app);
    const other = await ciToken(environment, '79');
    await environment.api('POST', `${AT}/check-runs`, { name: 'build', head_sha: head, conclusion: 'success' }, other);
    const found = await environment.host.checksOf(REPO, head);
    expect(found.map(({ state }) => state)).toEqual(['failure', 'success']);
  });

  test.each(['check-runs', 'status'])('throws when the host refuses to show the %s', async (path) => {
    environment.sandbox.failNext({ status: 403, message: 'Resource not accessible', match: { path } });
    await expect(environment.host.checksOf(REPO, head)).rejects.toMatchObject({ kind: 'refused', httpStatus: 403 });
  });

  test('end with the log of a failed job, or with the output of a run that is no job', async () => {
    const output = { title: 'Two failures', summary: 'a.test.ts and b.test.ts' };
    await run('build', { conclusion: 'failure', output });
    const [build] = await environment.host.checksOf(REPO, head);
    expect(build && (await environment.host.logTailOf(REPO, build))).toBe('Two failures\n\na.test.ts and b.test.ts');
    const job = { name: 'tests', outcome: 'failure', log: 'expected 1, got 2\n' } as const;
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE, ci: [job] });
    head = await environment.push(branch, `${branch}-2.txt`, 'y\n');
    for (;;) {
      const tests = (await environment.host.checksOf(REPO, head)).find(({ name }) => name === 'tests');
      if (tests?.state !== 'failure') continue;
      expect(await environment.host.logTailOf(REPO, tests)).toBe('expected 1, got 2');
      break;
    }
  });
});

describe('what a merge requires', () => {
  test('reads the rules from classic protection with read access to the branch', async () => {
    await protect(['build']);
    expect(await rules(STRANGER.token)).toMatchObject({ requiredChecks: ['build'] });
  });

  test('reads the rules from rulesets and from the settings of the repository', async () => {
    const given = [
      { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'lint' }] } },
      { type: 'pull_request', parameters: { allowed_merge_methods: ['squash', 'rebase'] } },
    ];
    const ruleset = { name: `rules ${serial}`, enforcement: 'active', rules: given };
    const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } };
    const made = await environment.api('POST', `${AT}/rulesets`, { ...ruleset, conditions }, ANNA.token);
    const { id } = made.data as { id: number };
    const mergeMethods: ('merge' | 'rebase')[] = ['merge', 'rebase'];
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE, mergeMethods });
    expect(await rules()).toEqual({ requiredChecks: ['lint'], reviewGate: 'none', methods: ['rebase'] });
    await environment.api('DELETE', `${AT}/rulesets/${id}`, undefined, ANNA.token);
  });

  test.each(['rules/branches/main', 'branches/main'])('throws when the host refuses to show %s', async (path) => {
    const match = { path: `shop/${path}` };
    environment.sandbox.failNext({ status: 403, message: 'Resource not accessible', match });
    await expect(rules()).rejects.toMatchObject({ kind: 'refused', httpStatus: 403 });
  });

  test('reads no rules from rulesets when the plan of the host has none', async () => {
    const message = 'Upgrade to GitHub Pro or make this repository public to enable this feature.';
    environment.sandbox.failNext({ status: 403, message, match: { path: 'shop/rules/branches/main' } });
    expect(await rules()).toMatchObject({ requiredChecks: [] });
  });

  test.each([
    [77, 'app'],
    [78, 'any'],
    [null, 'any'],
  ])('reads the source of the status of the review when it is the app %s', async (app_id, reviewGate) => {
    const checks = [{ context: 'svc/review', app_id }, { context: 'build' }];
    const rest = { enforce_admins: false, required_pull_request_reviews: null, restrictions: null };
    const protection = { required_status_checks: { strict: false, checks }, ...rest };
    await environment.api('PUT', `${AT}/branches/main/protection`, protection, ANNA.token);
    const host = createGitHubAppHost({
      baseUrl: environment.sandbox.url,
      appId: '77',
      privateKey: APP_KEY.privateKey,
      clientType: 'sandbox',
      userAgent: 'test',
      now: () => new Date(),
    });
    expect(await host.mergeRulesOf(REPO, 'main')).toMatchObject({ requiredChecks: ['build'], reviewGate });
    expect(await rules()).toMatchObject({ reviewGate: 'any' });
  });

  test('keeps the rules for a minute', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const host = environment.as(BOT.token, { now: () => new Date(now) });
    expect(await host.mergeRulesOf(REPO, 'main')).toMatchObject({ requiredChecks: [] });
    await protect(['build']);
    expect(await host.mergeRulesOf(REPO, 'main')).toMatchObject({ requiredChecks: [] });
    now += 61_000;
    expect(await host.mergeRulesOf(REPO, 'main')).toMatchObject({ requiredChecks: ['build'] });
  });
});

describe('a merge is refused', () => {
  test('refuses a merge for its checks when they are missing, pending or red', async () => {
    await protect(['build']);
    for (const state of [null, 'pending', 'failure']) {
      if (state) await status('build', state);
      expect(await merge()).toMatchObject({ status: 'refused', httpStatus: 405, kind: 'checks' });
    }
    await status('build', 'success');
    expect(await merge()).toMatchObject({ status: 'ok' });
  });

  test('refuses a merge as behind when the base has new commits; its update makes a new head', async () => {
    await environment.push('main', `base-${serial}.txt`, 'x\n');
    await protect(['build'], true);
    await status('build', 'success');
    expect(await merge()).toMatchObject({ status: 'refused', kind: 'behind' });
    const update = { type: 'updateBranch', prNumber, expectedHeadSha: head } as const;
    const updated = await environment.execute(update);
    const { head: shown } = (await environment.api('GET', `${AT}/pulls/${prNumber}`)).data as { head: { sha: string } };
    expect(updated).toMatchObject({ status: 'ok', repeated: false, created: { sha: shown.sha } });
    expect(await environment.execute(update)).toMatchObject({ repeated: true, created: { sha: shown.sha } });
    expect(await environment.execute({ ...update, expectedHeadSha: shown.sha })).toMatchObject({ repeated: true });
  });

  test('refuses a merge as a conflict when the branch cannot be brought up to date', async () => {
    head = await environment.push(branch, 'list.txt', `mine ${serial}\n`);
    await environment.push('main', 'list.txt', `theirs ${serial}\n`);
    const update = { type: 'updateBranch', prNumber, expectedHeadSha: head } as const;
    expect(await environment.execute(update)).toMatchObject({ status: 'refused', httpStatus: 422, kind: 'conflict' });
  });
});

test('a review keeps in its text what cannot stand on a line of the diff', async () => {
  const comments = [
    { path: `${branch}.txt`, line: 1, body: 'here' },
    { path: 'README.md', line: 400, body: 'not part of the change' },
  ];
  const review = { type: 'submitReview', prNumber, event: 'comment', body: 'Two comments.', comments } as const;
  expect(await environment.execute({ ...review, comments })).toMatchObject({ status: 'ok', repeated: false });
  const [found] = await environment.host.listReviews(REPO, prNumber);
  expect(found?.body).toContain('`README.md:400`: not part of the change');
  expect(await environment.execute({ ...review, comments }, 1, true)).toMatchObject({ repeated: true });
});
