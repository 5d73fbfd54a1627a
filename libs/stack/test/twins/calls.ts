import { createHmac } from 'node:crypto';
import {
  ApiFailure,
  acceptIssueText,
  type Client,
  cancelIssue,
  claimTask,
  clearFlag,
  completeTask,
  deleteOrphanEdges,
  discardProjection,
  drainWorker,
  failTask,
  heartbeat,
  listConsistencyFindings,
  pauseIssue,
  receiveGithubWebhook,
  reclaimWorker,
  registerWorker,
  reportProgress,
  resolveDeadLetter,
  resolveSubtaskEdges,
  resumeIssue,
  retryDeadLetter,
  retryIssue,
  retryProjection,
  startTask,
  transitionIssue,
  unblockIssue,
} from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import type { ClaimedTask, Report } from '@pipeline/engine';
import type { Calls } from '@pipeline/engine/model';
import { SECRET } from './hosted.ts';
import type { Delivery } from './payload.ts';
import type { Twins } from './twins.ts';

const TASK_TYPES = ['analyze', 'plan', 'develop', 'review', 'merge', 'retrospect'] as const;
const ACTIONS = {
  pause: pauseIssue,
  resume: resumeIssue,
  unblock: unblockIssue,
  retry: retryIssue,
  cancel: cancelIssue,
} as const;
const REPAIRS = {
  'clear-flag': clearFlag,
  'resolve-subtask-edges': resolveSubtaskEdges,
  'delete-orphan-edges': deleteOrphanEdges,
} as const;

type Ask = <T>(call: (client: Client) => Promise<T>) => Promise<T>;

/** A service's no is the engine's no. */
const telling =
  (twins: Twins, kind: 'monitor' | 'hosted-api'): Ask =>
  (call) =>
    twins.ask(kind, call).catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status < 500) throw new AppError(error.code, error.message);
      throw error;
    });

const params = (task: ClaimedTask) => ({ id: task.id });

/** What workers ask of the one hosted API or the other. */
export function workerCalls(twins: Twins) {
  const ask = telling(twins, 'hosted-api');
  const body = async <T>(call: (client: Client) => Promise<{ body: T }>): Promise<T> => (await ask(call)).body;
  return {
    register: async (name) =>
      (await body((api) => api.call(registerWorker, { body: { name, taskTypes: [...TASK_TYPES] } }))).workerId,
    claim: async (workerId) => {
      const wish = { workerId, taskTypes: [...TASK_TYPES], waitMs: 0 };
      const answer = await ask((api) => api.call(claimTask, { body: wish }));
      return answer.status === 200 ? (answer.body.task as ClaimedTask) : null;
    },
    start: (task) =>
      body((api) => api.call(startTask, { params: params(task), body: { claimToken: task.claimToken } })),
    report: (task, report: Report) =>
      body((api) =>
        api.call(completeTask, { params: params(task), body: { ...report, claimToken: task.claimToken } as never }),
      ),
    fail: (task, failure) =>
      body((api) => api.call(failTask, { params: params(task), body: { ...failure, claimToken: task.claimToken } })),
    progress: (task, said) =>
      body((api) => api.call(reportProgress, { params: params(task), body: { ...said, claimToken: task.claimToken } })),
    heartbeat: (beat) => body((api) => api.call(heartbeat, { body: { ...beat, tasks: [...beat.tasks] } })),
  } satisfies Partial<Calls>;
}

/** What operators ask of the one monitor or the other. @param reimplement has no route: it is said on the host. */
export function operatorCalls(twins: Twins, reimplement: (issueNumber: number) => Promise<void>) {
  const ask = telling(twins, 'monitor');
  const at = (number: number) => ({ owner: 'acme', repo: 'model', issue: String(number) });
  return {
    act: async (number, action) => {
      if (action === 'reimplement') return reimplement(number);
      return ask((monitor) => monitor.call(ACTIONS[action], { params: at(number) }));
    },
    transition: (number, targetState) =>
      ask((monitor) => monitor.call(transitionIssue, { params: at(number), body: { targetState, reason: 'because' } })),
    acceptText: (number) => ask((monitor) => monitor.call(acceptIssueText, { params: at(number) })),
    retryLetter: (id) => ask((monitor) => monitor.call(retryDeadLetter, { params: { id } })),
    resolveLetter: (id) => ask((monitor) => monitor.call(resolveDeadLetter, { params: { id } })),
    steerProjection: (id, to) =>
      ask((monitor) =>
        monitor.call(to === 'retry' ? retryProjection : discardProjection, { params: { id: String(id) } as never }),
      ),
    drainWorker: (id, drain) => ask((monitor) => monitor.call(drainWorker, { params: { id }, body: { drain } })),
    reclaimFromWorker: (id) => ask((monitor) => monitor.call(reclaimWorker, { params: { id } })),
    findings: async () => {
      await twins.tickMonitors(['consistency']);
      return (await ask((monitor) => monitor.call(listConsistencyFindings, {}))).body.items as never;
    },
    repair: (repair, id) => ask((monitor) => monitor.call(REPAIRS[repair as keyof typeof REPAIRS], { params: { id } })),
  } satisfies Partial<Calls>;
}

/** What the host brings to the one hosted API or the other. @returns whether it was news to them. */
export async function bring(twins: Twins, id: string, { event, body }: Delivery): Promise<boolean> {
  const text = JSON.stringify(body);
  const headers = {
    'x-github-delivery': id,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`,
  };
  const taken = await twins.ask('hosted-api', (api) => api.call(receiveGithubWebhook, { body: text, headers }));
  return taken.body.delivery === 'accepted';
}
