/** Every action of an operator on an issue reaches the live stream: pages that show the issue learn of it from there. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  acceptIssueText,
  actOnIssue,
  admin,
  allowUncheckedMerge,
  answerPlanOf,
  closeDeadLetter,
  decideOnFinding,
  fail,
  repairFinding,
  retryDeadLetter,
  steerProjection,
  transitionIssue,
} from '@pipeline/engine';
import { jsonb } from '@pipeline/store';
import { refOf, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

/** Returns what an action puts on the stream about issues, without what was there before. */
async function published(action: () => Promise<unknown>): Promise<string[]> {
  const of = stage.database.db.selectFrom('stream_outbox').where('tenant_id', '=', stage.tenantId);
  const rows = () => of.select(['event_type', 'data']).where('event_type', 'in', TYPES).orderBy('id').execute();
  const before = (await rows()).length;
  await action();
  return (await rows()).slice(before).map(({ event_type, data }) => textOf(event_type, data as Data));
}

const TYPES = ['state-transition', 'issue-status'] as const;
type Data = Record<string, unknown>;
const textOf = (type: string, { repo, issueNumber, from, to, status, actorType, state }: Data): string => {
  const { owner, name } = stage.repo;
  expect([repo, issueNumber]).toEqual([`${owner}/${name}`, 1]);
  return type === 'state-transition' ? `${from} > ${to}` : `${status} (${actorType}, ${state})`;
};

const act = async (action: Parameters<typeof actOnIssue>[2]) =>
  actOnIssue(stage.engine, await stage.key(), action, OLGA);

const failForGood = async () => {
  const task = await take(stage);
  const failure = { errorMessage: 'permission denied', errorClass: 'permanent' as const, invocations: [] };
  await fail(stage.engine, refOf(stage, task), failure);
};

describe('an action of an operator on an issue is published', () => {
  test('publishes a pause and a resume of the issue', async () => {
    expect(await published(() => act('pause'))).toEqual(['pause by operator (operator, analyzing)']);
    expect(await published(() => act('resume'))).toEqual(['resume by operator (operator, analyzing)']);
  });

  test('publishes the retry of a failed issue, and its unblocking as a move alone', async () => {
    await failForGood();
    expect(await published(() => act('retry'))).toEqual(['retry by operator (operator, failure-blocked)']);
    expect(await published(() => act('unblock'))).toEqual(['failure-blocked > analyzing']);
  });

  test('publishes a cancel, a move or a restart of the issue as a move alone', async () => {
    await workUntil(stage, 'in-review');
    expect(await published(() => act('reimplement'))).toEqual(['in-review > ready-for-dev']);
    const key = await stage.key();
    expect(await published(() => transitionIssue(stage.engine, key, 'failure-blocked', OLGA))).toEqual([
      'ready-for-dev > failure-blocked',
    ]);
    expect(await published(() => act('cancel'))).toEqual(['failure-blocked > done']);
  });

  test('publishes the acceptance of a text, or of a merge without checks', async () => {
    const key = await stage.key();
    expect(await published(() => acceptIssueText(stage.engine, key, { sha256: null }, OLGA))).toEqual([
      'accept-text by operator (operator, analyzing)',
    ]);
    expect(await published(() => allowUncheckedMerge(stage.engine, key, OLGA))).toEqual([
      'allow-unchecked-merge by operator (operator, analyzing)',
    ]);
  });

  test('publishes the answer to a plan as a move alone', async () => {
    const { owner, name } = stage.repo;
    const by = { engine: stage.engine, actor: 'olga', reason: null };
    await admin.setPlanApproval(by, { repo: `${owner}/${name}`, org: null }, 'required');
    await stage.work();
    await stage.work();
    const key = await stage.key();
    const approval = { kind: 'approve', version: 1 } as const;
    expect(await published(() => answerPlanOf(stage.engine, key, approval, OLGA))).toEqual([
      'human-review-ready > ready-for-dev',
    ]);
  });

  test('publishes the steering of a host write, and the retry or resolution of its dead letter', async () => {
    await workUntil(stage, 'ready-for-dev');
    await stage.work();
    const { id } = await stage.entry('createPR');
    const { state } = await stage.issue();
    expect(await published(() => steerProjection(stage.engine, id, 'discard', OLGA))).toEqual([
      `projection-discard by operator (operator, ${state})`,
    ]);
    const [deadLetter] = await stage.openDeadLetters();
    expect(await published(() => retryDeadLetter(stage.engine, deadLetter?.id ?? '', OLGA))).toEqual([
      `dead-letter-retry by operator (operator, ${state})`,
    ]);
    await steerProjection(stage.engine, id, 'discard', OLGA);
    const [another] = await stage.openDeadLetters();
    expect(await published(() => closeDeadLetter(stage.engine, another?.id ?? '', OLGA))).toEqual([
      `dead-letter-resolve by operator (operator, ${state})`,
    ]);
  });
});

describe('an action of an operator on what an issue has is published', () => {
  let issueId: number;
  beforeEach(async () => {
    issueId = (await stage.issue()).id;
  });

  test('publishes the settling of a finding of the issue', async () => {
    const { id } = await stage.database.db
      .insertInto('findings')
      .values({
        id: randomUUID(),
        tenant_id: stage.tenantId,
        repo_id: stage.repo.id,
        issue_id: issueId,
        agent_name: 'reviewer',
        finding_type: 'risk',
        category: 'tests',
        severity: 'low',
        title: 'A risk',
        summary: '',
        evidence: jsonb([]),
        metadata: jsonb({}),
        blocks_progress: false,
        status: 'open',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    expect(await published(() => decideOnFinding(stage.engine, { id, move: 'resolve' }, OLGA))).toEqual([
      'finding-resolve by operator (operator, analyzing)',
    ]);
  });

  test('publishes the repair of its record', async () => {
    await stage.database.db
      .updateTable('issues')
      .set({ is_blocked: true, block_reason: 'unknown' })
      .where('id', '=', issueId)
      .execute();
    const { owner, name } = stage.repo;
    const id = `stale_blocked:${owner}/${name}#1`;
    expect(await published(() => repairFinding(stage.engine, 'clear-flag', id, OLGA))).toEqual([
      'clear-flag by operator (operator, analyzing)',
    ]);
  });
});
