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

/** The worker protocol. Only tasks of the scratch repo are claimed, and each is handed back with all its attempts. */
export const workerChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'claimTask')
    ? [refusesUnknown, holdsLease, fencesTokens, losesClaims, repeatsClaims]
    : [];

const post = (probe: Probe, address: string, body: object): Promise<Answer> =>
  probe.send(address, { method: 'POST', body: JSON.stringify(body), credential: probe.good('worker') });

async function register(probe: Probe): Promise<string> {
  const repos = [probe.sample('scratch')];
  const answer = await post(probe, '/api/worker/register', { name: 'pipeline-contract', taskTypes: TASK_TYPES, repos });
  mustEqual('status of the registration', answer.status, 200);
  return answer.json<{ workerId: string }>().workerId;
}

/** Wait in ms for a task that the check before handed back: the service releases those every few seconds. */
const CLAIM_WAIT_MS = 15_000;

const claim = (probe: Probe, workerId: string, claimKey?: string): Promise<Answer> =>
  post(probe, '/api/worker/claim', {
    workerId,
    taskTypes: TASK_TYPES,
    repos: [probe.sample('scratch')],
    waitMs: CLAIM_WAIT_MS,
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

/** A quota uses no attempt: the task is claimable again at once, and no number of runs blocks its issue. */
async function handBack(probe: Probe, { id, claimToken }: Task): Promise<void> {
  const report = {
    claimToken,
    errorClass: 'quota',
    retryAfterMs: 0,
    errorMessage: 'Handed back by the contract tests',
  };
  const { status } = await post(probe, `/api/worker/tasks/${id}/fail`, report);
  mustEqual('status of a failure by quota', status, 200);
}

type Act = (task: Task, workerId: string) => Promise<void>;

/** Hands the task back afterwards, and leaves. @returns the task. */
async function withTask(probe: Probe, act: Act, claimKey?: string): Promise<Task> {
  const workerId = await register(probe);
  try {
    const task = await claimed(probe, workerId, claimKey);
    try {
      await act(task, workerId);
    } finally {
      await handBack(probe, task);
    }
    return task;
  } finally {
    await post(probe, '/api/worker/heartbeat', { workerId, status: 'leaving', tasks: [] });
  }
}

/** Claims a task of the scratch repo and hands it back. @throws CheckSkipped when there is none. */
export async function claimAndHandBack(probe: Probe): Promise<void> {
  await withTask(probe, async () => undefined);
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
  async run(probe) {
    await withTask(probe, async ({ id, claimToken, leaseExpiresAt }, workerId) => {
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
    });
  },
};

const fencesTokens: Check = {
  suite: 'worker',
  endpoint: 'completeTask',
  name: 'refuses every report whose claim token is not the one of the latest claim',
  async run(probe) {
    await withTask(probe, async ({ id }) => {
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
    });
  },
};

const losesClaims: Check = {
  suite: 'worker',
  endpoint: 'failTask',
  name: 'refuses a token whose claim has ended',
  async run(probe) {
    const { id, claimToken } = await withTask(probe, async () => undefined);
    const late = await post(probe, `/api/worker/tasks/${id}/extend`, { claimToken });
    mustEqual('status with a late token', late.status, 409);
    mustEqual('code with a late token', late.json<{ code: string }>().code, 'CLAIM_LOST');
  },
};

const repeatsClaims: Check = {
  suite: 'worker',
  endpoint: 'claimTask',
  name: 'gives a repeated claim with the same key the same task and token',
  async run(probe) {
    const claimKey = randomUUID();
    const repeat = async ({ id, claimToken }: Task, workerId: string) => {
      const again = await claimed(probe, workerId, claimKey);
      mustEqual('task', [again.id, again.claimToken], [id, claimToken]);
    };
    await withTask(probe, repeat, claimKey);
  },
};
