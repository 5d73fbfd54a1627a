import { createHmac } from 'node:crypto';
import {
  ApiFailure,
  acceptIssueText,
  approvePlan,
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
  rejectPlan,
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
import type { Calls } from '@pipeline/testing/model';
import type { Cluster } from './cluster.ts';
import { SECRET } from './hosted.ts';
import type { Delivery } from './payload.ts';

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

type Request = <T>(call: (client: Client) => Promise<T>) => Promise<T>;

/** Converts a refusal of a service to the error of the engine. */
const requesterOf =
  (cluster: Cluster, kind: 'monitor' | 'hosted-api'): Request =>
  (call) =>
    cluster.request(kind, call).catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status < 500) throw new AppError(error.code, error.message);
      throw error;
    });

const params = (task: ClaimedTask) => ({ id: task.id });

/** Calls of workers, to either hosted API. */
export function workerCalls(cluster: Cluster) {
  const request = requesterOf(cluster, 'hosted-api');
  const body = async <T>(call: (client: Client) => Promise<{ body: T }>): Promise<T> => (await request(call)).body;
  return {
    register: async (name) =>
      (await body((api) => api.call(registerWorker, { body: { name, taskTypes: [...TASK_TYPES] } }))).workerId,
    claim: async (workerId) => {
      const body = { workerId, taskTypes: [...TASK_TYPES], waitMs: 0 };
      const answer = await request((api) => api.call(claimTask, { body }));
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
    progress: (task, progress) =>
      body((api) =>
        api.call(reportProgress, { params: params(task), body: { ...progress, claimToken: task.claimToken } }),
      ),
    heartbeat: (beat) => body((api) => api.call(heartbeat, { body: { ...beat, tasks: [...beat.tasks] } })),
  } satisfies Partial<Calls>;
}

/** Calls of operators, to either monitor. @param reimplement posts a comment on the host, because there is no route. */
export function operatorCalls(cluster: Cluster, reimplement: (issueNumber: number) => Promise<void>) {
  const request = requesterOf(cluster, 'monitor');
  const at = (number: number) => ({ owner: 'acme', repo: 'model', issue: String(number) });
  return {
    act: async (number, action) => {
      if (action === 'reimplement') return reimplement(number);
      return request((monitor) => monitor.call(ACTIONS[action], { params: at(number) }));
    },
    transition: (number, targetState) =>
      request((monitor) =>
        monitor.call(transitionIssue, { params: at(number), body: { targetState, reason: 'because' } }),
      ),
    acceptText: (number) => request((monitor) => monitor.call(acceptIssueText, { params: at(number) })),
    answerPlan: (number, { kind, version, text }) =>
      request((monitor) =>
        kind === 'approve'
          ? monitor.call(approvePlan, { params: at(number), body: { version, ...(text !== undefined && { text }) } })
          : monitor.call(rejectPlan, { params: at(number), body: { version, reason: 'because' } }),
      ),
    retryDeadLetter: (id) => request((monitor) => monitor.call(retryDeadLetter, { params: { id } })),
    resolveDeadLetter: (id) => request((monitor) => monitor.call(resolveDeadLetter, { params: { id } })),
    steerProjection: (id, to) =>
      request((monitor) =>
        monitor.call(to === 'retry' ? retryProjection : discardProjection, { params: { id: String(id) } as never }),
      ),
    drainWorker: (id, drain) => request((monitor) => monitor.call(drainWorker, { params: { id }, body: { drain } })),
    reclaimFromWorker: (id) => request((monitor) => monitor.call(reclaimWorker, { params: { id } })),
    findings: async () => {
      await cluster.tickMonitors(['consistency']);
      return (await request((monitor) => monitor.call(listConsistencyFindings, {}))).body.items as never;
    },
    repair: (repair, id) =>
      request((monitor) => monitor.call(REPAIRS[repair as keyof typeof REPAIRS], { params: { id } })),
  } satisfies Partial<Calls>;
}

/** Posts a webhook to either hosted API. @returns false when it is already known. */
export async function postDelivery(cluster: Cluster, id: string, { event, body }: Delivery): Promise<boolean> {
  const text = JSON.stringify(body);
  const headers = {
    'x-github-delivery': id,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`,
  };
  const response = await cluster.request('hosted-api', (api) =>
    api.call(receiveGithubWebhook, { body: text, headers }),
  );
  return response.body.delivery === 'accepted';
}
