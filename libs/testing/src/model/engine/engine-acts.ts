import { expect } from '@jest/globals';
import { type ExecuteResult, type TaskType, WORK_TASK_TYPES } from '@pipeline/domain';
import {
  acceptIssueText,
  actOnIssue,
  answerPlanOf,
  applyHostEvent,
  autoUnblock,
  beginSending,
  claim,
  closeDeadLetter,
  drainWorker,
  type Engine,
  fail,
  findIssueKey,
  heartbeat,
  listFindings,
  passMergeGate,
  pollRepo,
  progress,
  reclaimExpired,
  reclaimFromWorker,
  reclaimStalled,
  registerWorker,
  releaseDue,
  releaseWaiting,
  repairFinding,
  report,
  retryDeadLetter,
  type Sending,
  sendable,
  settle,
  start,
  steerProjection,
  transitionIssue,
  watchSilence,
} from '@pipeline/engine';
import { sql } from 'kysely';
import { type Acts, type Calls, callsAskedAgain, type Death, type Pass } from '../world/acts.ts';
import type { Stage } from '../world/world.ts';

const TASK_TYPES: TaskType[] = [...WORK_TASK_TYPES, 'retrospect'];
const WORKER = { hostname: '', version: '1', repos: [], taskTypes: TASK_TYPES, labels: {} };
const OLGA = { type: 'operator' as const, id: 'olga', agent: null };

/** Every act by its use case, in this process. */
export function engineActs(stage: Stage): Acts {
  const { engine, database, repo, host } = stage;
  let unheard = false;
  /** A crash after the commit loses the response. One before it has left nothing behind. */
  const retried = async <T>(call: () => Promise<T>, again: () => Promise<T> = call): Promise<T> => {
    const answer = await call();
    if (!unheard) return answer;
    unheard = false;
    return again();
  };
  return {
    ...callsAskedAgain(callsOn(stage), retried),
    async deliver(events) {
      for (const event of events) await retried(() => applyHostEvent({ engine, repo, host }, event));
    },
    async poll() {
      await retried(() => pollRepo({ engine, repo, host }, () => new Date(database.clock.now ?? 0)));
    },
    send: (pass) => send(stage, pass),
    upkeep: () => retried(() => everyLoop(engine)),
    crash(moment) {
      unheard = moment === 'after the commit';
    },
  };
}

function callsOn({ engine, tenantId, repo }: Stage): Calls {
  const refOf = (task: { id: string; claimToken: string }) => ({
    tenantId,
    taskId: task.id,
    claimToken: task.claimToken,
  });
  const keyOf = (number: number) => findIssueKey(engine, { owner: repo.owner, repo: repo.name, number });
  return {
    register: (name) => registerWorker(engine, tenantId, { ...WORKER, name }),
    claim: (workerId) => claim(engine, { tenantId, workerId, taskTypes: TASK_TYPES, repoIds: null }),
    start: (task) => start(engine, refOf(task)),
    report: (task, body) => report(engine, refOf(task), body),
    fail: (task, failure) => fail(engine, refOf(task), failure),
    progress: (task, said) => progress(engine, refOf(task), said),
    heartbeat: (beat) => heartbeat(engine, { tenantId, ...beat }),
    act: async (number, action) => actOnIssue(engine, await keyOf(number), action, OLGA),
    transition: async (number, target) => transitionIssue(engine, await keyOf(number), target, OLGA),
    acceptText: async (number) => acceptIssueText(engine, await keyOf(number), { sha256: null }, OLGA),
    answerPlan: async (number, answer) =>
      answerPlanOf(engine, await keyOf(number), answer, { ...OLGA, reason: 'because' }),
    retryDeadLetter: (id) => retryDeadLetter(engine, id, OLGA),
    resolveDeadLetter: (id) => closeDeadLetter(engine, id, OLGA),
    steerProjection: (id, to) => steerProjection(engine, id, to, OLGA),
    drainWorker: (id, drain) => drainWorker(engine, id, drain, OLGA),
    reclaimFromWorker: (id) => reclaimFromWorker(engine, id, OLGA),
    findings: async () => (await listFindings(engine)).findings,
    repair: (repair, id) => repairFinding(engine, repair, id, OLGA),
  };
}

async function everyLoop(engine: Engine): Promise<void> {
  await reclaimExpired(engine);
  await reclaimStalled(engine);
  await releaseDue(engine);
  await releaseWaiting(engine);
  await autoUnblock(engine);
  await watchSilence(engine);
}

/** One pass of the outbox, like the monitor's loop. @returns how many entries were started. */
async function send(stage: Stage, { count, death, dying }: Pass): Promise<number> {
  const ready = (await sendable(stage.engine, 'sandbox', 100)).slice(0, count);
  for (const [index, entry] of ready.entries())
    await sendOne(stage, entry, index >= ready.length - dying ? death : 'never');
  return ready.length;
}

async function sendOne(stage: Stage, entry: { tenant_id: number; id: number }, death: Death): Promise<void> {
  const { engine, host } = stage;
  const sendings = [await beginSending(engine, entry.tenant_id, entry.id)];
  if (death === 'two at once') sendings.push(await beginSending(engine, entry.tenant_id, entry.id));
  if (death === 'before the write') return;
  for (const [index, sending] of sendings.entries()) {
    if (!sending) continue;
    const action = await passMergeGate(engine, sending, host);
    if (action === null) continue;
    const { projection, repo, mayHaveHappened } = sending;
    const result = await host.execute(repo, projection.issue_number, action, { mayHaveHappened });
    if (death !== 'before the record') await settleOnce(stage, sending, result, index > 0);
  }
}

/**
 * Rows that a result writes; a late one for a complete entry adds only its attempt.
 * @param late another executor may have completed the entry since it was started.
 */
async function settleOnce(stage: Stage, sending: Sending, result: ExecuteResult, late: boolean): Promise<void> {
  const before = late ? await traceOf(stage, sending) : null;
  await settle(stage.engine, sending, result);
  if (before?.status === 'complete') expect(await traceOf(stage, sending)).toEqual(before);
  if (result.status === 'failed') {
    expect(await sendable(stage.engine, 'sandbox', 100)).not.toContainEqual(
      expect.objectContaining({ id: sending.projection.id }),
    );
  }
}

/** An outbox entry and all possible consequences of its result. */
async function traceOf({ database }: Stage, { projection }: Sending): Promise<Record<string, unknown>> {
  const { rows } = await sql<Record<string, unknown>>`
    select p.status, p.attempts, p.result, i.state, i.updated_at,
      (select count(*) from tasks) as tasks, (select count(*) from projections) as entries,
      (select count(*) from pipeline_events) as events, (select count(*) from issue_edges) as edges
    from projections p left join issues i on i.id = p.issue_id where p.id = ${projection.id}`.execute(database.db);
  return rows[0] ?? {};
}
