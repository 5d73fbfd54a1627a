import { type TaskType, WORK_TASK_TYPES } from '@pipeline/domain';
import {
  acceptIssueText,
  actOnIssue,
  answerPlanOf,
  applyHostEvent,
  autoUnblock,
  claim,
  closeDeadLetter,
  drainWorker,
  type Engine,
  fail,
  findIssueKey,
  heartbeat,
  listFindings,
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
  start,
  steerProjection,
  transitionIssue,
  watchSilence,
} from '@pipeline/engine';
import { type Acts, type Calls, callsAskedAgain } from '../world/acts.ts';
import type { Stage } from '../world/world.ts';
import { send } from './engine-outbox.ts';

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
