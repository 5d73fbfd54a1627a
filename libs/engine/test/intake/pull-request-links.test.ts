import { describe, expect, test } from '@jest/globals';
import type { HostPullRequest } from '@pipeline/domain';
import { findPullRequest } from '@pipeline/store';
import { workUntil } from '../harness.ts';
import { reportPull } from '../host-pulls.ts';
import { Stage } from '../stage.ts';

const stage = new Stage({ issues: 2 });

const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const byHand = { number: 5_000, body: 'Fixes #1', headRef: 'by-hand', headSha: 'fff0000', author: 'alice' };
const opened = () => reportPull(stage, 'opened', { ...byHand, updatedAt: at(1) });
const edited = (body: string, minute = 2) => reportPull(stage, 'edited', { ...byHand, body, updatedAt: at(minute) });
const merged = (over: Partial<HostPullRequest>) => {
  const merge = { state: 'closed', merged: true, mergedAt: at(5), mergeCommitSha: 'cafe123' } as const;
  return reportPull(stage, 'merged', { ...byHand, ...merge, updatedAt: at(5), ...over });
};

const states = async () => [(await stage.issue(1)).state, (await stage.issue(2)).state];
/** The number of the issue that a pull request is linked to. */
async function issueOf(prNumber: number): Promise<number | null> {
  const pr = await findPullRequest(stage.database.db, stage.tenantId, stage.repo.id, prNumber);
  const issues = await Promise.all([stage.issue(1), stage.issue(2)]);
  return issues.find(({ id }) => id === pr?.issue_id)?.issue_number ?? null;
}

describe('the pull request of a person', () => {
  test('ends the issue that its text names when it is merged after an edit', async () => {
    await opened();
    await edited('Fixes #2');
    expect(await issueOf(5_000)).toBe(2);
    await merged({ body: 'Fixes #2' });
    expect(await states()).toEqual(['analyzing', 'done']);
  });

  test('ends the issue that its text names when the merge is the first report of an edit', async () => {
    await opened();
    await merged({ body: 'Fixes #2' });
    expect(await states()).toEqual(['analyzing', 'done']);
  });

  test('ends no issue when an edit has removed the reference', async () => {
    await opened();
    await edited('About #1');
    expect(await issueOf(5_000)).toBeNull();
    await merged({ body: 'About #1' });
    expect(await states()).toEqual(['analyzing', 'analyzing']);
    const row = await findPullRequest(stage.database.db, stage.tenantId, stage.repo.id, 5_000);
    expect(row).toMatchObject({ merged: true, merge_sha: 'cafe123' });
    await edited('Fixes #2', 6);
    expect(await issueOf(5_000)).toBeNull();
  });

  test('links the pull request when an edit adds a reference', async () => {
    await reportPull(stage, 'opened', { ...byHand, body: '', updatedAt: at(1) });
    await edited('Fixes #2');
    expect(await issueOf(5_000)).toBe(2);
  });

  test('keeps its link when a late webhook has an older text', async () => {
    await opened();
    await edited('Fixes #2', 3);
    await edited('Fixes #1', 2);
    expect(await issueOf(5_000)).toBe(2);
  });

  test('keeps its issue when it is edited after its merge', async () => {
    await opened();
    await merged({});
    await merged({ body: 'Fixes #2', updatedAt: at(6) });
    expect(await issueOf(5_000)).toBe(1);
    expect(await states()).toEqual(['done', 'analyzing']);
  });
});

test('the pull request of the pipeline keeps its issue when a person edits its text', async () => {
  await workUntil(stage, 'in-review');
  const own = { body: 'Fixes #2', updatedAt: at(2) };
  await reportPull(stage, 'edited', own, 'mallory');
  expect(await issueOf(1_001)).toBe(1);
  const merge = { state: 'closed', merged: true, mergedAt: at(5), mergeCommitSha: 'cafe123' } as const;
  await reportPull(stage, 'merged', { ...own, ...merge, updatedAt: at(5) });
  expect(await states()).toEqual(['done', 'analyzing']);
});
