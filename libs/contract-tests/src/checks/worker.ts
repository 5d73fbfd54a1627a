import { randomUUID } from 'node:crypto';
import type { Surface } from '@pipeline/contract';
import { TASK_TYPES } from '@pipeline/domain';
import type { Check } from './check.ts';
import { CheckSkipped, must, mustEqual } from './outcome.ts';
import type { Answer, Probe } from './probe.ts';
import { ABSENT } from './samples.ts';

interface Task {
  id: string;
  claimToken: string;
  repo: string;
  leaseExpiresAt: string;
}

/** The worker protocol. Only tasks of the scratch repo are claimed, and each is handed back. */
export const workerChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'claimTask') ? [refusesUnknown, holdsLease, fencesTokens, repeatsClaims] : [];

const post = (probe: Probe, address: string, body: object): Promise<Answer> =>
  probe.send(address, { method: 'POST', body: JSON.stringify(body), credential: probe.good('worker') });

async function register(probe: Probe): Promise<string> {
  const repos = [probe.sample('scratch')];
  const answer = await post(probe, '/api/worker/register', { name: 'pipeline-contract', taskTypes: TASK_TYPES, repos });
  mustEqual('status of the registration', answer.status, 200);
  return answer.json<{ workerId: string }>().workerId;
}

const claim = (probe: Probe, workerId: string, claimKey?: string): Promise<Answer> =>
  post(probe, '/api/worker/claim', {
    workerId,
    taskTypes: TASK_TYPES,
    repos: [probe.sample('scratch')],
    ...(claimKey !== undefined && { claimKey }),
  });

async function claimed(probe: Probe, workerId: string, claimKey?: string): Promise<Task> {
  const answer = await claim(probe, workerId, claimKey);
  if (answer.status === 204) throw new CheckSkipped('the scratch repo has no task to claim');
  mustEqual('status of the claim', answer.status, 200);
  const { task } = answer.json<{ task: Task }>();
  mustEqual('repo of the task', task.repo, probe.sample('scratch').toLowerCase());
  return task;
}

/** Registering again releases what the worker holds. */
async function withTask(probe: Probe, act: (task: Task, workerId: string) => Promise<void>): Promise<void> {
  const workerId = await register(probe);
  try {
    await act(await claimed(probe, workerId), workerId);
  } finally {
    await register(probe);
  }
}

const refusesUnknown: Check = {
  suite: 'worker',
  endpoint: 'claimTask',
  name: 'refuses unknown workers, tasks and task types',
  async run(probe) {
    const unknown = await post(probe, '/api/worker/claim', {
      workerId: 'pipeline-contract-absent',
      taskTypes: TASK_TYPES,
    });
    mustEqual('status for an unknown worker', unknown.status, 404);
    const { uuid } = ABSENT;
    const { status } = await post(probe, `/api/worker/tasks/${uuid}/start`, { claimToken: uuid });
    must([404, 409].includes(status), `status for an unknown task is ${status}`);
    const wrong = await post(probe, '/api/worker/claim', { workerId: 'x', taskTypes: ['dance'] });
    mustEqual('status for an unknown task type', wrong.status, 400);
  },
};

const holdsLease: Check = {
  suite: 'worker',
  endpoint: 'startTask',
  name: 'holds a claimed task by its lease until it is handed back',
  run: (probe) =>
    withTask(probe, async ({ id, claimToken, leaseExpiresAt }, workerId) => {
      must(Date.parse(leaseExpiresAt) > 0, `leaseExpiresAt is ${leaseExpiresAt}`);
      for (const action of ['start', 'extend'])
        mustEqual(
          `status of ${action}`,
          (await post(probe, `/api/worker/tasks/${id}/${action}`, { claimToken })).status,
          200,
        );
      const tasks = [{ taskId: id, claimToken }];
      const beat = await post(probe, '/api/worker/heartbeat', { workerId, status: 'busy', tasks });
      mustEqual('cancelTaskIds', beat.json<{ cancelTaskIds: string[] }>().cancelTaskIds, []);
    }),
};

const fencesTokens: Check = {
  suite: 'worker',
  endpoint: 'completeTask',
  name: 'refuses every report whose claim token is not the one of the latest claim',
  run: (probe) =>
    withTask(probe, async ({ id, claimToken }) => {
      const other = randomUUID();
      const reports: [string, object][] = [
        ['start', { claimToken: other }],
        ['extend', { claimToken: other }],
        ['progress', { claimToken: other, status: 'x' }],
        ['messages', { claimToken: other, items: [] }],
        ['complete', { claimToken: other, outcome: 'analyzed', result: {} }],
        ['fail', { claimToken: other, errorMessage: 'x', errorClass: 'transient' }],
      ];
      for (const [action, body] of reports) {
        const { status } = await post(probe, `/api/worker/tasks/${id}/${action}`, body);
        must([400, 409].includes(status), `status of ${action} is ${status}`);
      }
      // The worker that registers again gives the task back: its own token is late from then on.
      await register(probe);
      const late = await post(probe, `/api/worker/tasks/${id}/extend`, { claimToken });
      mustEqual('status with a late token', late.status, 409);
      mustEqual('code with a late token', late.json<{ code: string }>().code, 'CLAIM_LOST');
    }),
};

const repeatsClaims: Check = {
  suite: 'worker',
  endpoint: 'claimTask',
  name: 'gives a repeated claim with the same key the same task and token',
  async run(probe) {
    const workerId = await register(probe);
    const claimKey = randomUUID();
    try {
      const { id, claimToken } = await claimed(probe, workerId, claimKey);
      const again = await claimed(probe, workerId, claimKey);
      mustEqual('task', [again.id, again.claimToken], [id, claimToken]);
    } finally {
      await register(probe);
    }
  },
};
