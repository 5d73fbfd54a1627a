import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { actOnIssue, beginSending, releaseWaiting, settle, transitionIssue } from '@pipeline/engine';
import { jsonb, lockIssue, refreshIssueList, upsertEdge, wouldCycle } from '@pipeline/store';
import { sql } from 'kysely';
import { applyHostIssue, drain, finish, hostIssue, take } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const stage = new Stage();

test('a retry does not start a second agent on the branch of a withdrawn one', async () => {
  await take(stage);
  await transitionIssue(stage.engine, await stage.key(), 'planning', OLGA);
  await actOnIssue(stage.engine, await stage.key(), 'retry', OLGA);
  await expect(take(stage)).rejects.toThrow('nothing to claim');
});

test('an action that waits for the report of the task sees the next task', async () => {
  const task = await take(stage);
  const { retried } = await stage.database.db.transaction().execute(async (tx) => {
    const { id } = await stage.issue(1);
    await lockIssue(tx, stage.tenantId, id);
    const retried = actOnIssue(stage.engine, { tenantId: stage.tenantId, issueId: id }, 'retry', OLGA);
    await waitsForALock(retried);
    // As the report does before its commit: the task is another row.
    const next = { tenant_id: stage.tenantId, id: randomUUID(), work_id: randomUUID(), task_type: 'analyze' as const };
    await tx.deleteFrom('tasks').where('tenant_id', '=', stage.tenantId).where('id', '=', task.id).execute();
    await tx
      .insertInto('tasks')
      .values({
        ...next,
        repo_id: stage.repo.id,
        issue_id: id,
        issue_number: 1,
        priority: 0,
        turn: 1,
        max_attempts: 3,
        attempt: 2,
      })
      .execute();
    await refreshIssueList(tx, stage.tenantId, [id], false);
    return { retried };
  });
  expect(await retried).toBe('analyzing');
  expect(await stage.tasks()).toMatchObject([{ task_type: 'analyze', status: 'pending', attempt: 0 }]);
});

test('a comment that is rewritten while its attempt begins is sent with the new text', async () => {
  const { id, action } = await stage.entry('updateComment');
  const newer = { ...action, body: 'newer' };
  const sending = await stage.database.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('projections')
      .set({ action: jsonb(newer) })
      .where('id', '=', id)
      .execute();
    const begun = beginSending(stage.engine, stage.tenantId, id);
    await waitsForALock(begun);
    return { begun };
  });
  expect((await sending.begun)?.projection.action).toEqual(newer);
});

describe('two issues that wait for each other', () => {
  const dependsOn = (number: number) => ({ outcome: 'depends' as const, result: { on: [`#${number}`] } });

  test('two issues cannot wait for each other when their edges are inserted concurrently', async () => {
    await applyHostIssue(stage, hostIssue(2));
    const [one, two] = [await take(stage), await take(stage)];
    const end = (number: number) => ({ repoId: stage.repo.id, number, issueId: null });
    const { second } = await stage.database.db.transaction().execute(async (tx) => {
      // Like the report of the first issue, before its commit.
      expect(await wouldCycle(tx, stage.tenantId, end(1), end(2))).toBe(false);
      await upsertEdge(tx, stage.tenantId, { kind: 'depends_on', child: end(1), parent: end(2) });
      await refreshIssueList(tx, stage.tenantId, [(await stage.issue(1)).id], false);
      const second = finish(stage, one.issueNumber === 2 ? one : two, dependsOn(1));
      await waitsForALock(second);
      return { second };
    });
    expect(await second).toMatchObject({ state: 'needs-clarification' });
  });

  test('an epic and its new subtask that depended on it before are released', async () => {
    const subtasks = [{ title: 'part', body: '', labels: [] }];
    await finish(stage, await take(stage), { outcome: 'split', result: { subtasks } });
    await applyHostIssue(stage, hostIssue(2));
    await finish(stage, await take(stage), dependsOn(1));
    expect((await stage.issue(2)).state).toBe('dependency-blocked');
    const sending = await beginSending(stage.engine, stage.tenantId, (await stage.entry('createIssue')).id);
    if (!sending) throw new Error('not pending');
    await settle(stage.engine, sending, { status: 'ok', repeated: true, created: { number: 2 } });
    await releaseWaiting(stage.engine);
    expect(await finish(stage, await take(stage), dependsOn(1))).toMatchObject({
      state: 'needs-clarification',
    });
  });
});

describe('svc:paused on the host', () => {
  const shown = () => {
    const labels = new Set<string>();
    stage.host.execute = async (_repo, _number, action) => {
      if (action.type === 'swapLabels') {
        for (const label of action.remove) labels.delete(label);
        for (const label of action.add) labels.add(label);
      }
      return { status: 'ok', repeated: false, created: null };
    };
    return labels;
  };

  test('stays when it is added while our own removal is in flight', async () => {
    const labels = shown();
    await actOnIssue(stage.engine, await stage.key(), 'pause', OLGA);
    await drain(stage);
    await actOnIssue(stage.engine, await stage.key(), 'resume', OLGA);
    labels.delete('svc:paused');
    await applyHostIssue(stage, hostIssue(1), { action: 'unlabeled', label: 'svc:paused' });
    labels.add('svc:paused');
    await applyHostIssue(stage, hostIssue(1), { action: 'labeled', label: 'svc:paused' });
    await drain(stage);
    expect((await stage.issue()).is_paused).toBe(true);
    expect([...labels]).toContain('svc:paused');
  });

  test('shows svc:paused as applied when its event is late', async () => {
    const labels = shown();
    await drain(stage);
    // Added by a person, found by a poll, removed by an operator; then the webhook arrives.
    await applyHostIssue(stage, hostIssue(1, { labels: ['svc:analyzing', 'svc:paused'] }), {
      action: 'seen',
      sender: null,
    });
    await actOnIssue(stage.engine, await stage.key(), 'resume', OLGA);
    await drain(stage);
    await applyHostIssue(stage, hostIssue(1), { action: 'labeled', label: 'svc:paused' });
    await drain(stage);
    expect((await stage.issue()).is_paused).toBe(true);
    expect([...labels]).toContain('svc:paused');
  });
});

/** Waits until a statement of another session is blocked by a lock, or completes without. */
async function waitsForALock(work: Promise<unknown>): Promise<void> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
      stage.database.db,
    );
    if (rows[0]?.n) return;
  }
}
