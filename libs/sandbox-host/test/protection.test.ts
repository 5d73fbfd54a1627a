import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { permissionsFor, TASK_TYPES } from '@pipeline/domain';
import {
  ANNA,
  BOT,
  ciToken,
  createSandboxEnvironment,
  REPO,
  type SandboxEnvironment,
  STRANGER,
  shopApp,
} from '@pipeline/testing/sandbox';

/*
 * From GitHub's documentation: "About protected branches", "Available rules for rulesets", REST "Protected branches",
 * "Rules" and "Merge a pull request" (405, 409). A base branch with strict checks is answered with "… required status
 * checks are expected" although those of the head are green; `mergeable_state` is then `behind`.
 */

let environment: SandboxEnvironment;
let serial = 0;
const PEOPLE = { [BOT.login]: 'write', anna: 'admin' } as const;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const AT = '/repos/acme/shop';
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Answer = { status: number; data: any };
const call = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
  environment.api(method, `${AT}${path}`, body, token);
const NONE = {
  required_status_checks: null,
  enforce_admins: true,
  required_pull_request_reviews: null,
  restrictions: null,
};
const protect = (rules: object) => call('PUT', '/branches/main/protection', { ...NONE, ...rules }, ANNA.token);
let branch: string;
let sha: string;
let number: number;
const merge = (body: object = {}) => call('PUT', `/pulls/${number}/merge`, { merge_method: 'squash', ...body });
/** The second answer: the first one to a request for a head and a base is null. */
async function stateOf() {
  await call('GET', `/pulls/${number}`);
  return (await call('GET', `/pulls/${number}`)).data.mergeable_state;
}
const status = (context: string, state: string) => call('POST', `/statuses/${sha}`, { context, state });
const approve = () => call('POST', `/pulls/${number}/reviews`, { event: 'APPROVE' }, ANNA.token);

beforeEach(async () => {
  serial += 1;
  await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE });
  await call('DELETE', '/branches/main/protection', undefined, ANNA.token);
  const { data: rulesets } = await call('GET', '/rulesets');
  for (const { id } of rulesets) await call('DELETE', `/rulesets/${id}`, undefined, ANNA.token);
  branch = `guarded-${serial}`;
  sha = await environment.push(branch, `${branch}.txt`, 'x\n');
  number = (await call('POST', '/pulls', { title: 'A change', head: branch, base: 'main' })).data.number;
});

describe('required status checks', () => {
  test('refuses the merge with 405 until each one is green', async () => {
    await protect({ required_status_checks: { strict: false, contexts: ['build', 'lint'] } });
    expect(await merge()).toMatchObject({
      status: 405,
      data: { message: '2 of 2 required status checks are expected.' },
    });
    expect(await stateOf()).toBe('blocked');
    await status('build', 'failure');
    await status('lint', 'pending');
    expect((await merge()).data.message).toBe(
      '2 of 2 required status checks have not succeeded: 1 pending and 1 failing.',
    );
    await status('lint', 'success');
    expect((await merge()).data.message).toBe('Required status check "build" is failing.');
    await status('build', 'success');
    expect(await stateOf()).toBe('clean');
    expect((await merge()).status).toBe(200);
  });

  const ofApp = (app_id: number) => ({
    required_status_checks: { strict: false, checks: [{ context: 'svc/review', app_id }] },
  });
  const review = { context: 'svc/review', state: 'success' };

  test('counts a check that is required of an app only when that app set it', async () => {
    await protect(ofApp(78));
    await status('svc/review', 'success');
    expect((await merge()).data.message).toBe('Required status check "svc/review" is expected.');
    await call('POST', `/statuses/${sha}`, review, await ciToken(environment));
    expect((await merge()).status).toBe(200);
  });

  test('counts a check that a ruleset requires of an app only when that app set it', async () => {
    const checks = [{ context: 'svc/review', integration_id: 78 }];
    const rules = [{ type: 'required_status_checks', parameters: { required_status_checks: checks } }];
    const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'] } };
    await call('POST', '/rulesets', { name: 'review', enforcement: 'active', conditions, rules }, ANNA.token);
    await status('svc/review', 'success');
    expect((await merge()).data.message).toContain('Required status check "svc/review" is expected.');
    await call('POST', `/statuses/${sha}`, review, await ciToken(environment));
    expect((await merge()).status).toBe(200);
  });

  test('a token of a task neither sets the status of the review nor merges a head that lacks it', async () => {
    await protect(ofApp(77));
    for (const taskType of TASK_TYPES) {
      const request = { repo: REPO, installationId: null, permissions: permissionsFor(taskType) };
      const { token } = await shopApp(environment).accessTo(request);
      expect((await call('POST', `/statuses/${sha}`, review, token)).status).toBe(403);
      expect([403, 405]).toContain((await call('PUT', `/pulls/${number}/merge`, {}, token)).status);
    }
    expect((await call('GET', `/pulls/${number}`)).data.merged).toBe(false);
  });

  test('merges an unstable pull request when the failing check is not required', async () => {
    await status('optional', 'failure');
    expect(await stateOf()).toBe('unstable');
    expect((await merge()).status).toBe(200);
  });

  test('expects them again of a branch that is behind when they are strict', async () => {
    await protect({ required_status_checks: { strict: true, contexts: ['build'] } });
    await status('build', 'success');
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: { ...PEOPLE, [BOT.login]: 'admin' } });
    await protect({ required_status_checks: { strict: true, contexts: ['build'] }, enforce_admins: false });
    await environment.push('main', `base-${serial}.txt`, 'base\n');
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE });
    expect(await stateOf()).toBe('behind');
    expect((await merge()).data.message).toBe('Required status check "build" is expected.');
  });
});

describe('required reviews', () => {
  const rules = (dismiss: boolean) =>
    protect({ required_pull_request_reviews: { dismiss_stale_reviews: dismiss, required_approving_review_count: 1 } });

  test('refuses the merge with 405 until a person with write access approves', async () => {
    await rules(false);
    const words = 'At least 1 approving review is required by reviewers with write access.';
    expect(await merge()).toMatchObject({ status: 405, data: { message: words } });
    await call('POST', `/pulls/${number}/reviews`, { event: 'APPROVE' }, STRANGER.token);
    expect((await merge()).status).toBe(405);
    await approve();
    expect((await merge()).status).toBe(200);
  });

  test('dismisses an approval of an earlier head when stale reviews are dismissed', async () => {
    await rules(true);
    await approve();
    sha = await environment.push(branch, `${branch}-2.txt`, 'y\n');
    expect((await call('GET', `/pulls/${number}/reviews`)).data).toEqual([
      expect.objectContaining({ state: 'DISMISSED' }),
    ]);
    expect((await merge()).status).toBe(405);
  });

  test('keeps an approval of an earlier head otherwise', async () => {
    await rules(false);
    await approve();
    await environment.push(branch, `${branch}-2.txt`, 'y\n');
    expect((await merge()).status).toBe(200);
  });
});

describe('pushes to a protected branch', () => {
  const push = (options: string[] = []) => pushTo('main', options);
  async function pushTo(target: string, options: string[]): Promise<string> {
    const url = `${environment.sandbox.url.replace('//', `//x:${BOT.token}@`)}/acme/shop.git`;
    const work = `${environment.dir}/push-${serial}-${Math.random()}`;
    await environment.git(['clone', '-q', url, work]);
    await environment.git(['commit', '-q', '--allow-empty', '-m', work, ...options], work);
    return environment.git(['push', '-f', 'origin', `HEAD:${target}`], work).then(
      () => 'pushed',
      (error: Error) => error.message,
    );
  }

  test('refuses pushes when a pull request, a check or other pushers are required', async () => {
    await protect({ required_pull_request_reviews: {} });
    expect(await push()).toContain('GH006: Protected branch update failed for refs/heads/main.');
    expect(await push()).toContain('Changes must be made through a pull request.');
    await protect({ required_status_checks: { strict: false, contexts: ['build'] } });
    expect(await push()).toContain('Required status check "build" is expected.');
    await protect({ restrictions: { users: ['anna'], teams: [] } });
    expect(await push()).toContain("You're not authorized to push to this branch.");
    await protect({ restrictions: { users: [BOT.login], teams: [] } });
    expect(await push()).toBe('pushed');
  });

  test('refuses pushes that replace commits, unless force-pushes are allowed', async () => {
    await protect({});
    expect(await push(['--amend'])).toContain('Cannot force-push to this branch');
    await protect({ allow_force_pushes: true });
    expect(await push(['--amend'])).toBe('pushed');
  });

  test('leave other branches alone', async () => {
    await protect({ required_pull_request_reviews: {} });
    expect(await pushTo(`free-${serial}`, [])).toBe('pushed');
  });
});

describe('merge methods', () => {
  test('refuses a merge method with 405 when the repository does not allow it', async () => {
    await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: PEOPLE, mergeMethods: ['squash'] });
    expect((await call('GET', '')).data).toMatchObject({
      allow_merge_commit: false,
      allow_squash_merge: true,
      allow_rebase_merge: false,
    });
    expect(await merge({ merge_method: 'merge' })).toMatchObject({
      status: 405,
      data: { message: 'Merge commits are not allowed on this repository.' },
    });
    expect((await merge({ merge_method: 'rebase' })).data.message).toBe(
      'Rebase merges are not allowed on this repository.',
    );
    expect((await merge()).status).toBe(200);
  });

  test('leave no merge commit on a branch with a linear history', async () => {
    await protect({ required_linear_history: true });
    expect((await merge({ merge_method: 'merge' })).status).toBe(405);
    expect((await merge({ merge_method: 'rebase' })).status).toBe(200);
  });
});

describe('rulesets', () => {
  const ruleset = (rules: object[], more: object = {}) =>
    call(
      'POST',
      '/rulesets',
      {
        name: `rules ${serial}`,
        enforcement: 'active',
        rules,
        ...more,
        conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
      },
      ANNA.token,
    );
  const CHECKS = {
    type: 'required_status_checks',
    parameters: { required_status_checks: [{ context: 'build' }], strict_required_status_checks_policy: false },
  };

  test('show their rules for a branch to every user and refuse in their own words', async () => {
    expect((await ruleset([CHECKS])).status).toBe(201);
    expect((await call('GET', '/rules/branches/main', undefined, STRANGER.token)).data).toEqual([
      expect.objectContaining(CHECKS),
    ]);
    expect((await call('GET', `/rules/branches/${branch}`)).data).toEqual([]);
    expect((await merge()).data.message).toBe(
      'Repository rule violations found\n\nRequired status check "build" is expected.\n\n',
    );
    await status('build', 'success');
    expect((await merge()).status).toBe(200);
  });

  test('only administrators write rulesets, which have no effect when they are disabled', async () => {
    expect((await call('POST', '/rulesets', { name: 'x', enforcement: 'active' })).status).toBe(403);
    await ruleset([CHECKS], { enforcement: 'disabled' });
    expect((await merge()).status).toBe(200);
  });
});

test('a push of an app that changes a workflow file is refused without the right for it', async () => {
  const permissions = permissionsFor('develop');
  const { token } = await shopApp(environment).accessTo({ repo: REPO, installationId: null, permissions });
  const push = (to: string, file: string, by = token) =>
    environment.push(to, file, `${serial}\n`, { repo: 'acme/shop', token: by });
  const file = `.github/workflows/ci-${serial}.yml`;
  await expect(push(branch, file)).rejects.toThrow('without `workflows` permission');
  await expect(push(`fresh-${serial}`, file)).rejects.toThrow('without `workflows` permission');
  await push(branch, 'README.md');
  await push('main', file, ANNA.token);
  await push(`after-${serial}`, 'README.md');
});

test('a merge of a change of a workflow file is refused to an app without the right for it', async () => {
  const file = `.github/workflows/merged-${serial}.yml`;
  const head = `workflow-${serial}`;
  await environment.push(head, file, 'on: push\n', { repo: 'acme/shop', token: ANNA.token });
  const { data } = await environment.api('POST', '/repos/acme/shop/pulls', { title: 'CI', head, base: 'main' });
  const path = `/repos/acme/shop/pulls/${(data as { number: number }).number}/merge`;
  const { token } = await shopApp(environment).accessTo({
    repo: REPO,
    installationId: null,
    permissions: { contents: 'write', pull_requests: 'write' },
  });
  expect(await environment.api('PUT', path, {}, token)).toMatchObject({
    status: 403,
    data: { message: expect.stringContaining(`update workflow \`${file}\` without \`workflows\` permission`) },
  });
  expect((await environment.api('PUT', path, {}, ANNA.token)).status).toBe(200);
});
