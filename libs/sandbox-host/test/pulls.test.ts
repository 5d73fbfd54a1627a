import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ANNA, createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';

/*
 * From GitHub's REST documentation, "Get a pull request" (the computation of `mergeable`), "Update a pull request branch"
 * and "Create a review for a pull request".
 */

let environment: SandboxEnvironment;
let serial = 0;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
});
afterAll(() => environment.end());

const AT = '/repos/acme/shop';
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Answer = { status: number; data: any };
const call = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
  environment.api(method, `${AT}${path}`, body, token);
let branch: string;
let sha: string;
let number: number;
beforeEach(async () => {
  serial += 1;
  branch = `branch-${serial}`;
  sha = await environment.push(branch, 'list.txt', `zero\none\ntwo\nthree ${serial}\n`);
  number = (await call('POST', '/pulls', { title: 'A change', head: branch, base: 'main' })).data.number;
});

const mergeable = async () => {
  const { mergeable: known, mergeable_state: state } = (await call('GET', `/pulls/${number}`)).data;
  return [known, state];
};

test('compares a branch and a commit when both exist', async () => {
  const compare = async (range: string) => {
    const { status, data } = await call('GET', `/compare/${range}`);
    return [status, data.status, data.ahead_by, data.behind_by];
  };
  expect(await compare(`main...${sha}`)).toEqual([200, 'ahead', 1, 0]);
  await environment.push('main', `compared-${serial}.txt`, 'x\n');
  expect(await compare(`main...${sha}`)).toEqual([200, 'diverged', 1, 1]);
  expect(await compare(`main...${branch}`)).toEqual([200, 'diverged', 1, 1]);
  expect(await compare('main...main')).toEqual([200, 'identical', 0, 0]);
  expect((await compare(`main...${'0'.repeat(40)}`))[0]).toBe(404);
  expect((await compare('main'))[0]).toBe(404);
});

test('answers null for mergeable when no request named the head and the base before', async () => {
  // The request that opened it was the first one.
  expect(await mergeable()).toEqual([true, 'clean']);
  await environment.push(branch, 'more.txt', 'x\n');
  expect(await mergeable()).toEqual([null, 'unknown']);
  expect(await mergeable()).toEqual([true, 'clean']);
});

describe('the update of a branch', () => {
  const update = (body: object = {}) => call('PUT', `/pulls/${number}/update-branch`, body);

  test('merges the base into the head when the base has new commits', async () => {
    expect(await update()).toMatchObject({
      status: 422,
      data: { message: 'There are no new commits on the base branch.' },
    });
    const base = await environment.push('main', `base-${serial}.txt`, 'x\n');
    expect(await update({ expected_head_sha: sha })).toMatchObject({
      status: 202,
      data: { message: 'Updating pull request branch.' },
    });
    const { head } = (await call('GET', `/pulls/${number}`)).data;
    expect(head.sha).not.toBe(sha);
    const { data: compared } = await call('GET', `/pulls/${number}/files`);
    expect(compared.map(({ filename }: { filename: string }) => filename)).toEqual(['list.txt']);
    expect(base).toMatch(/^[0-9a-f]{40}$/);
  });

  test('answers 422 when the head is another or conflicts', async () => {
    await environment.push('main', 'list.txt', `conflicting ${serial}\n`);
    expect((await update({ expected_head_sha: '0'.repeat(40) })).data.message).toContain('expected head sha');
    expect(await update()).toMatchObject({ status: 422, data: { message: 'merge conflict between base and head' } });
  });
});

describe('review comments', () => {
  const review = (path: string, line: number, side?: string) =>
    call(
      'POST',
      `/pulls/${number}/reviews`,
      { event: 'COMMENT', body: 'b', comments: [{ path, line, side, body: 'c' }] },
      ANNA.token,
    );

  test('accepts comments on lines of the diff', async () => {
    expect((await review('list.txt', 1)).status).toBe(200);
    expect((await review('list.txt', 1, 'LEFT')).status).toBe(200);
  });

  test('answer 422 when the line or the file is not part of the diff', async () => {
    expect(await review('list.txt', 400)).toMatchObject({
      status: 422,
      data: { message: 'Unprocessable Entity', errors: ['Line could not be resolved'] },
    });
    expect((await review('README.md', 1)).data.errors).toEqual(['Path could not be resolved']);
  });
});
