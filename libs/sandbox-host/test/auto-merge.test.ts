/** Merges that people leave to the host, and its secondary rate limit. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  BOT,
  createSandboxEnvironment,
  REPO,
  type SandboxEnvironment,
  STRANGER,
} from '@pipeline/testing/sandbox';
import { until } from '@pipeline/testing/until';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

interface Pull {
  number: number;
  node_id: string;
  head: { sha: string; ref: string };
  merged: boolean;
  auto_merge: object | null;
}

const OWNER = { login: 'acme', token: 'acme-token-1' };
let slug: string;
let serial = 0;
beforeEach(async () => {
  serial += 1;
  slug = `acme/auto-${serial}`;
  environment.sandbox.addUser(OWNER);
  await environment.sandbox.addRepo({ slug, collaborators: { [BOT.login]: 'write', anna: 'write' } });
  await call('PATCH', '', { allow_auto_merge: true });
  await call('PUT', '/branches/main/protection', {
    required_status_checks: { strict: false, contexts: ['build'] },
    enforce_admins: true,
    required_pull_request_reviews: { required_approving_review_count: 1 },
    restrictions: null,
  });
});

async function call<T>(method: string, path: string, body?: unknown, { token } = OWNER): Promise<T> {
  const { status, data } = await environment.api(method, `/repos/${slug}${path}`, body, token);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
  return data as T;
}
async function graphql(name: string, variables: object, { token }: { token: string } = BOT) {
  const { data } = await environment.api('POST', '/graphql', { query: `mutation { ${name} }`, variables }, token);
  return data as { data: object | null; errors?: { message: string }[] };
}
const enable = ({ node_id: id }: Pull, caller?: { token: string }, method = 'SQUASH') =>
  graphql('enablePullRequestAutoMerge', { id, method }, caller);
const read = ({ number }: Pull) => call<Pull>('GET', `/pulls/${number}`);
const build = ({ head }: Pull, state: 'success' | 'failure') =>
  call('POST', `/statuses/${head.sha}`, { context: 'build', state });
const approve = ({ number }: Pull) => call('POST', `/pulls/${number}/reviews`, { event: 'APPROVE' }, ANNA);
async function open(): Promise<Pull> {
  await environment.push('topic', 'a.txt', 'a\n', { repo: slug, token: BOT.token });
  return call('POST', '/pulls', { title: 'Topic', head: 'topic', base: 'main' }, BOT);
}
const isMerged = (pull: Pull) => until('it is merged', async () => (await read(pull)).merged);

describe('a merge that is left to the host', () => {
  test('follows the last check and the last review, in whatever order they come', async () => {
    const pull = await open();
    expect(await enable(pull)).toMatchObject({ data: { enablePullRequestAutoMerge: {} } });
    expect((await read(pull)).auto_merge).toMatchObject({ merge_method: 'squash', enabled_by: { login: BOT.login } });
    await build(pull, 'success');
    expect((await read(pull)).merged).toBe(false);
    await approve(pull);
    await isMerged(pull);
  });

  test('waits while a check is red', async () => {
    const pull = await open();
    await enable(pull);
    await approve(pull);
    await build(pull, 'failure');
    expect((await read(pull)).merged).toBe(false);
    await build(pull, 'success');
    await isMerged(pull);
  });

  test('a person cancels the merge by hand', async () => {
    const pull = await open();
    await enable(pull);
    await graphql('disablePullRequestAutoMerge', { id: pull.node_id }, ANNA);
    await build(pull, 'success');
    await approve(pull);
    expect(await read(pull)).toMatchObject({ merged: false, auto_merge: null });
  });

  test('cancels the merge when a person without write access pushes, and keeps it when one with it does', async () => {
    const ours = await open();
    await enable(ours);
    await environment.push('topic', 'b.txt', 'b\n', { repo: slug, token: BOT.token });
    expect((await read(ours)).auto_merge).toMatchObject({ merge_method: 'squash' });
    await call('POST', '/forks', {}, STRANGER);
    const fork = `stranger/${slug.replace('acme/', '')}`;
    const push = (text: string) => environment.push('theirs', 'c.txt', text, { repo: fork, token: STRANGER.token });
    await push('1\n');
    const theirs = await call<Pull>('POST', '/pulls', { title: 'T', head: 'stranger:theirs', base: 'main' }, STRANGER);
    await enable(theirs);
    expect((await read(theirs)).auto_merge).not.toBeNull();
    await push('2\n');
    expect((await read(theirs)).auto_merge).toBeNull();
  });

  test('goes into the queue of a branch that has one', async () => {
    const pull = await open();
    const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'] } };
    await call('POST', '/rulesets', { name: 'q', enforcement: 'active', conditions, rules: [{ type: 'merge_queue' }] });
    await enable(pull);
    await build(pull, 'success');
    await approve(pull);
    await until('the queue tests it', async () => {
      const url = `${environment.sandbox.url.replace('//', `//x:${BOT.token}@`)}/${slug}.git`;
      return (await environment.git(['ls-remote', url, 'refs/heads/gh-readonly-queue/*'])) !== '';
    });
    expect((await read(pull)).merged).toBe(false);
  });

  test('refuses auto-merge when the setting is off, when nothing is in the way, for another method, and to a stranger', async () => {
    const pull = await open();
    const words = async (answer: ReturnType<typeof enable>) => (await answer).errors?.[0]?.message;
    expect(await words(enable(pull, STRANGER))).toMatch(/not accessible/);
    await environment.sandbox.addRepo({
      slug,
      collaborators: { [BOT.login]: 'write', anna: 'write' },
      mergeMethods: ['squash'],
    });
    expect(await words(enable(pull, BOT, 'REBASE'))).toMatch(/rebase merging is not allowed/);
    await build(pull, 'success');
    await approve(pull);
    expect(await words(enable(pull))).toMatch(/clean status/);
    await call('PATCH', '', { allow_auto_merge: false });
    expect(await words(enable(pull))).toMatch(/not allowed for this repository/);
  });
});

test('the secondary limit refuses writes with the time to wait, and no reads', async () => {
  const strict = await createSandboxEnvironment({ writesPerMinute: 2 });
  try {
    const open = () => strict.api('POST', '/repos/acme/shop/issues', { title: 'x' }, ANNA.token);
    expect([(await open()).status, (await open()).status]).toEqual([201, 201]);
    const refused = await open();
    expect(refused).toMatchObject({ status: 403, data: { message: expect.stringContaining('secondary rate limit') } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await strict.api('GET', '/repos/acme/shop/issues', undefined, ANNA.token)).status).toBe(200);
    const host = strict.as(ANNA.token);
    const comment = { type: 'postComment', body: 'Hello', marker: 'm' } as const;
    const result = await host.execute(REPO, 1, comment, { mayHaveHappened: false });
    expect(result).toMatchObject({ status: 'rate-limited', retryAt: expect.any(String) });
  } finally {
    await strict.end();
  }
});
