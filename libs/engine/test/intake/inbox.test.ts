import { describe, expect, test } from '@jest/globals';
import type { HostEvent } from '@pipeline/domain';
import { drainInbox, Inbox, receiveDelivery } from '@pipeline/engine';
import { inboxBacklog } from '@pipeline/store';
import { applyHostIssue, hostIssue } from '../harness.ts';
import { Stage } from '../stage.ts';

const ISSUES = 50;
const ROUNDS = 4;
/** Lanes that one process handles at the same time. */
const PARALLEL = 8;
/** Deliveries of one read. */
const BATCH = 500;

const bench = new Stage({ issues: 0 });
const hostOf = () => bench.host;

let ids = 0;
const comment = (issueNumber: number, author: string): HostEvent => {
  ids += 1;
  const at = '2026-03-01T00:00:00.000Z';
  return {
    kind: 'comment',
    repo: { owner: bench.repo.owner, name: bench.repo.name },
    issueNumber,
    onPullRequest: false,
    comment: { id: ids, author, body: '/svc:nothing', createdAt: at, updatedAt: at },
    issueAuthor: 'alice',
    sender: author,
  };
};
const store = (event: HostEvent) => {
  ids += 1;
  return receiveDelivery(bench.engine, `${bench.repo.owner} ${String(ids).padStart(5, '0')}`, 'issue_comment', [event]);
};

describe('the inbox', () => {
  test('handles 200 deliveries of 50 issues concurrently, and those of one issue in order', async () => {
    for (let number = 1; number <= ISSUES; number += 1) await applyHostIssue(bench, hostIssue(number));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let number = 1; number <= ISSUES; number += 1) await store(comment(number, `${number}-${round}`));
      bench.pass(1);
    }
    const handled: string[] = [];
    const full = Promise.withResolvers<void>();
    let [underWay, most] = [0, 0];
    bench.host.permissionOf = async (_repo, author) => {
      underWay += 1;
      most = Math.max(most, underWay);
      if (most === PARALLEL) full.resolve();
      // A slow host: it sends its first response when the maximum number of requests is waiting.
      await full.promise;
      underWay -= 1;
      handled.push(author);
      return 'write';
    };
    expect(await drainInbox(bench.engine, hostOf)).toBe(ISSUES * ROUNDS);
    expect(most).toBe(PARALLEL);
    expect(handled).toHaveLength(ISSUES * ROUNDS);
    const roundsOf = (number: number) =>
      handled.filter((author) => author.startsWith(`${number}-`)).map((author) => Number(author.split('-')[1]));
    for (let number = 1; number <= ISSUES; number += 1)
      expect([number, roundsOf(number)]).toEqual([number, [0, 1, 2, 3]]);
  });

  test('handles new deliveries while the host does not answer for another issue', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(2));
    const answer = Promise.withResolvers<void>();
    const handled: string[] = [];
    bench.host.permissionOf = async (_repo, author) => {
      if (author === 'slow') await answer.promise;
      handled.push(author);
      return 'write';
    };
    const inbox = new Inbox({ engine: bench.engine, hostOf });
    await store(comment(1, 'slow'));
    expect(await inbox.step()).toBe(1);
    await store(comment(1, 'behind'));
    await store(comment(2, 'quick'));
    const lane = inbox.step();
    await expect(lane).resolves.toBe(1);
    while (handled.length === 0) await new Promise(setImmediate);
    expect(handled).toEqual(['quick']);
    answer.resolve();
    await inbox.settled();
    await inbox.step();
    await inbox.settled();
    expect(handled).toEqual(['quick', 'slow', 'behind']);
  });

  test('asks for another read after a lane if deliveries may have arrived unseen, and only then', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const answer = Promise.withResolvers<'write'>();
    bench.host.permissionOf = () => answer.promise;
    const inbox = new Inbox({ engine: bench.engine, hostOf });
    let asked = 0;
    inbox.onLaneEnd = () => {
      asked += 1;
    };
    await store(comment(1, 'first'));
    await inbox.step();
    await store(comment(1, 'behind'));
    expect(await inbox.step()).toBe(0);
    answer.resolve('write');
    await inbox.settled();
    expect(asked).toBe(1);
    expect(await inbox.step()).toBe(1);
    await inbox.settled();
    expect(asked).toBe(1);
  });

  test('asks for another read while more lanes wait than it handles at once', async () => {
    for (let number = 1; number <= PARALLEL + 1; number += 1) {
      await applyHostIssue(bench, hostIssue(number));
      await store(comment(number, 'anna'));
    }
    const inbox = new Inbox({ engine: bench.engine, hostOf });
    let asked = 0;
    inbox.onLaneEnd = () => {
      asked += 1;
    };
    expect(await inbox.step()).toBe(PARALLEL);
    await inbox.settled();
    expect(asked).toBe(PARALLEL);
    expect(await inbox.step()).toBe(1);
    await inbox.settled();
    expect(asked).toBe(PARALLEL);
  });

  test('asks for another read after a full batch', async () => {
    const strange = { ...comment(1, 'anna'), repo: { owner: 'nobody', name: 'nothing' } };
    for (let n = 0; n <= BATCH; n += 1) await store(strange);
    const inbox = new Inbox({ engine: bench.engine, hostOf });
    let asked = 0;
    inbox.onLaneEnd = () => {
      asked += 1;
    };
    expect(await inbox.step()).toBe(1);
    await inbox.settled();
    expect([inbox.handled, asked]).toEqual([BATCH, 1]);
    expect(await inbox.step()).toBe(1);
    await inbox.settled();
    expect([inbox.handled, asked]).toEqual([BATCH + 1, 1]);
  });

  test('reports the age of the oldest pending delivery, and their number', async () => {
    const before = await inboxBacklog(bench.database.db);
    expect(before).toEqual({ waiting: 0, retrying: 0, lagSeconds: 0 });
    await applyHostIssue(bench, hostIssue(1));
    await store(comment(1, 'anna'));
    bench.pass(90);
    await store(comment(1, 'anna'));
    expect(await inboxBacklog(bench.database.db)).toEqual({ waiting: 2, retrying: 0, lagSeconds: 90 });
    bench.host.permissionOf = async () => {
      throw new Error('host is down');
    };
    await drainInbox(bench.engine, hostOf);
    // A failed delivery waits for its own retry, which is irrelevant for the speed of the inbox.
    expect(await inboxBacklog(bench.database.db)).toEqual({ waiting: 0, retrying: 2, lagSeconds: 0 });
    bench.pass(3_600);
    expect(await inboxBacklog(bench.database.db)).toMatchObject({ waiting: 2, retrying: 0 });
    bench.host.permissionOf = async () => 'write';
    await drainInbox(bench.engine, hostOf);
    expect(await inboxBacklog(bench.database.db)).toEqual(before);
  });
});
