/** The merge queue of a branch: what gets into it, what it tests, and what becomes of what it takes out. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, BOT, createSandboxEnvironment, type SandboxEnvironment, STRANGER } from '@pipeline/testing/sandbox';
import { until } from '@pipeline/testing/until';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

interface Pull {
  number: number;
  node_id: string;
  head: { sha: string };
  merged: boolean;
  state: string;
}

const OWNER = { login: 'acme', token: 'acme-token-1' };
let slug: string;
let serial = 0;
beforeEach(async () => {
  serial += 1;
  slug = `acme/queued-${serial}`;
  environment.sandbox.addUser(OWNER);
  await environment.sandbox.addRepo({ slug, collaborators: { [BOT.login]: 'write', anna: 'write' } });
  await call('POST', '/rulesets', {
    name: 'main',
    enforcement: 'active',
    conditions: { ref_name: { include: ['~DEFAULT_BRANCH'] } },
    rules: [
      { type: 'merge_queue' },
      { type: 'required_status_checks', parameters: { required_status_checks: [{ context: 'build' }] } },
    ],
  });
});

async function call<T>(method: string, path: string, body?: unknown, { token } = OWNER): Promise<T> {
  const { status, data } = await environment.api(method, `/repos/${slug}${path}`, body, token);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
  return data as T;
}
async function graphql(name: string, variables: object, { token }: { token: string } = BOT) {
  const query = name === 'mergeQueueEntry' ? 'query { node { mergeQueueEntry } }' : `mutation { ${name} }`;
  const { data } = await environment.api('POST', '/graphql', { query, variables }, token);
  return data as { data: Record<string, never> | null; errors?: { type: string; message: string }[] };
}
const enqueue = ({ node_id, head }: Pull, caller?: { token: string }) =>
  graphql('enqueuePullRequest', { id: node_id, head: head.sha }, caller);
const queueState = async ({ node_id }: Pull) => {
  const { data } = await graphql('mergeQueueEntry', { id: node_id });
  return data?.node as unknown as {
    state: string;
    mergeQueueEntry: { state: string; position: number } | null;
    timelineItems: { nodes: { __typename: string; reason?: string; beforeCommit?: { oid: string } | null }[] };
  };
};
const build = (sha: string, state: 'success' | 'failure') =>
  call('POST', `/statuses/${sha}`, { context: 'build', state });

/** A pull request that adds or changes a file, with a green head. */
async function open(file: string, text = `${file}\n`): Promise<Pull> {
  const branch = `svc/${file}-${serial}-${Math.random().toString(36).slice(2)}`;
  await environment.push(branch, file, text, { repo: slug, token: BOT.token });
  const pull = await call<Pull>('POST', '/pulls', { title: file, head: branch, base: 'main' }, BOT);
  await build(pull.head.sha, 'success');
  return pull;
}
const read = ({ number }: Pull) => call<Pull>('GET', `/pulls/${number}`);
/** The commit that the queue tests for this pull request. */
async function groupOf({ number }: Pull): Promise<string> {
  let sha = '';
  await until('the queue tests it', async () => {
    const url = `${environment.sandbox.url.replace('//', `//x:${BOT.token}@`)}/${slug}.git`;
    const refs = await environment.git(['ls-remote', url, `refs/heads/gh-readonly-queue/main/pr-${number}-*`]);
    sha = refs.split('\n').at(-1)?.split('\t')[0] ?? '';
    return sha !== '';
  });
  return sha;
}
const isMerged = (pull: Pull) => until('it is merged', async () => (await read(pull)).merged);

describe('a branch with a merge queue', () => {
  test('refuses a direct merge and leads to the queue', async () => {
    const pull = await open('a.txt');
    const { status, data } = await environment.api('PUT', `/repos/${slug}/pulls/${pull.number}/merge`, {});
    expect(status).toBe(405);
    expect(data).toMatchObject({ message: expect.stringContaining('Changes must be made through the merge queue') });
  });

  test('merges the tested commit when its checks are green', async () => {
    const pull = await open('a.txt');
    expect(await enqueue(pull)).toMatchObject({
      data: { enqueuePullRequest: { mergeQueueEntry: { state: 'QUEUED' } } },
    });
    const group = await groupOf(pull);
    expect(await queueState(pull)).toMatchObject({
      state: 'OPEN',
      mergeQueueEntry: { state: 'AWAITING_CHECKS', position: 1 },
      timelineItems: { nodes: [{ __typename: 'AddedToMergeQueueEvent' }] },
    });
    await build(group, 'success');
    await isMerged(pull);
    const branch = await call<{ commit: { sha: string } }>('GET', '/branches/main');
    expect(branch.commit.sha).toBe(group);
    expect(await queueState(pull)).toMatchObject({ state: 'MERGED', mergeQueueEntry: null });
  });

  test('tests the second pull request on top of the first', async () => {
    const [first, second] = [await open('a.txt'), await open('b.txt')];
    await enqueue(first);
    await enqueue(second);
    expect((await queueState(second)).mergeQueueEntry).toEqual({ state: 'QUEUED', position: 2 });
    const one = await groupOf(first);
    await build(one, 'success');
    await isMerged(first);
    const two = await groupOf(second);
    await build(two, 'success');
    await isMerged(second);
    // The merge and the commit that it brings.
    expect(await call('GET', `/compare/${one}...${two}`)).toMatchObject({ ahead_by: 2, behind_by: 0 });
  });

  test('takes out a pull request whose tested commit is red, and goes on with the next', async () => {
    const [first, second] = [await open('a.txt'), await open('b.txt')];
    await enqueue(first);
    await enqueue(second);
    const group = await groupOf(first);
    await build(group, 'failure');
    await until('it is out', async () => (await queueState(first)).mergeQueueEntry === null);
    expect((await queueState(first)).timelineItems.nodes).toEqual([
      { __typename: 'RemovedFromMergeQueueEvent', reason: 'CI_FAILURE', beforeCommit: { oid: group } },
    ]);
    expect((await read(first)).state).toBe('open');
    await build(await groupOf(second), 'success');
    await isMerged(second);
  });

  test('takes out a pull request that conflicts with what was merged before it', async () => {
    const [first, second] = [await open('a.txt', 'one\n'), await open('a.txt', 'two\n')];
    await enqueue(first);
    await enqueue(second);
    await build(await groupOf(first), 'success');
    await isMerged(first);
    await until('it is out', async () => (await queueState(second)).mergeQueueEntry === null);
    expect((await queueState(second)).timelineItems.nodes[0]).toMatchObject({ reason: 'MERGE_CONFLICT' });
  });

  test('takes out a pull request that gets another commit, whose push is newer than the removal', async () => {
    const pull = await open('a.txt');
    await enqueue(pull);
    await groupOf(pull);
    const { head } = await call<{ head: { ref: string } }>('GET', `/pulls/${pull.number}`);
    await environment.push(head.ref, 'a.txt', 'other\n', { repo: slug, token: BOT.token });
    await until('it is out', async () => (await queueState(pull)).mergeQueueEntry === null);
    expect((await queueState(pull)).timelineItems.nodes).toEqual([{ __typename: 'PullRequestCommit' }]);
  });

  test('a person removes a pull request from the queue by hand', async () => {
    const pull = await open('a.txt');
    await enqueue(pull);
    await groupOf(pull);
    await graphql('dequeuePullRequest', { id: pull.node_id }, ANNA);
    expect((await queueState(pull)).timelineItems.nodes[0]).toMatchObject({ reason: 'MANUAL' });
  });

  test.each<[string, (pull: Pull) => Promise<{ errors?: { message: string }[] }>, RegExp]>([
    ['another head', (pull) => enqueue({ ...pull, head: { sha: '0'.repeat(40) } }), /Head branch was modified/],
    ['a stranger', (pull) => enqueue(pull, STRANGER), /not accessible/],
    [
      'a pull request that is queued',
      async (pull) => {
        await enqueue(pull);
        return enqueue(pull);
      },
      /already in the queue/,
    ],
    [
      'a red head',
      async (pull) => {
        await build(pull.head.sha, 'failure');
        return enqueue(pull);
      },
      /Required status check "build" is failing/,
    ],
  ])('does not take %s', async (_what, ask, words) => {
    const { errors } = await ask(await open('a.txt'));
    expect(errors?.[0]?.message).toMatch(words);
  });

  test('goes on after a restart', async () => {
    const pull = await open('a.txt');
    await enqueue(pull);
    const group = await groupOf(pull);
    await environment.restart();
    await build(group, 'success');
    await isMerged(pull);
  });
});
