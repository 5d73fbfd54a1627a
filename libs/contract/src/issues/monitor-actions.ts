import { STATES } from '@pipeline/domain';
import { z } from 'zod';
import { tenantQuery } from '../repos/query.ts';
import { Ok, REASON_REFUSAL, RequiredReason, withReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { issueParams } from './address.ts';

const state = z.enum(STATES);

/** Settings shared by all issue actions (interface: Issue actions). */
const onIssue = {
  auth: 'operator',
  tags: ['Issue actions'],
  params: issueParams,
  query: tenantQuery,
  errors: ['ISSUE_NOT_FOUND', { code: 'NOT_FOUND', description: 'Unknown repo or malformed path' }],
} as const;
const refusals = { params: { code: 'NOT_FOUND', message: 'Not found' } } as const;
const plain = { ...onIssue, ...withReason, method: 'post', refusals } as const;
const withState = z.object({ ok: z.literal(true), state: state.meta({ description: 'Current state of the issue.' }) });

export const pauseIssue = route({
  ...plain,
  id: 'pauseIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/pause',
  summary: 'Pause an issue',
  description:
    'Adds the label svc:paused. No new tasks of the issue are claimed; a running task may finish. Idempotent; pausing an issue that is done has no effect.',
  replies: { 200: { description: 'Paused.', body: Ok } },
});

export const resumeIssue = route({
  ...plain,
  id: 'resumeIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/resume',
  summary: 'Resume a paused issue',
  description:
    'Removes the label svc:paused and re-enqueues the work task. No effect on an issue that is not paused or is done.',
  replies: { 200: { description: 'Resumed.', body: withState } },
});

export const unblockIssue = route({
  ...plain,
  id: 'unblockIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/unblock',
  summary: 'Unblock an issue',
  description:
    'Removes the label svc:blocked, returns the issue to the state it was blocked in and re-enqueues the work task. Pending dependencies are treated as resolved. No effect on an issue that is not blocked or is done.',
  replies: { 200: { description: 'Unblocked.', body: withState } },
});

export const retryIssue = route({
  ...plain,
  id: 'retryIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/retry',
  summary: 'Retry the work of the current state',
  description:
    'Re-enqueues the work task; the state does not change. A blocked issue is unblocked when the outcome of the retry is applied. No effect in a state without work, or when the issue is done: a transition to `new` restarts that one.',
  replies: { 200: { description: 'Enqueued.', body: withState } },
});

export const cancelIssue = route({
  ...plain,
  id: 'cancelIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/cancel',
  summary: 'Cancel an issue',
  description:
    'Moves the issue to done and cancels its tasks. A worker that holds a task is notified by its next heartbeat.',
  replies: { 200: { description: 'Cancelled.', body: Ok } },
});

export const acceptIssueText = route({
  ...plain,
  id: 'acceptIssueText',
  path: '/api/issues/{owner}/{repo}/{issue}/accept-text',
  summary: 'Accept the changed text of an issue',
  description:
    'Agents use the title and body that were enqueued; a later change by a user without write permission has no effect until it is accepted. This action accepts the change reported as `textChange` by the explanation of the issue. Idempotent.',
  body: plain.body.extend({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .meta({ description: '`textChange.sha256` of the reviewed text. A different text is not accepted.' }),
  }),
  replies: {
    200: {
      description: 'Result.',
      body: z.object({
        ok: z.literal(true),
        accepted: z.boolean().meta({ description: 'False when there was no matching change to accept.' }),
      }),
    },
  },
});

export const allowUncheckedMerge = route({
  ...plain,
  id: 'allowUncheckedMerge',
  path: '/api/issues/{owner}/{repo}/{issue}/allow-unchecked-merge',
  summary: 'Allow the merge of a pull request without checks',
  description:
    'Allows the current head of the pull request of the issue to be merged although no check reports on it. Checks that do report still decide: a pending one is waited for, a failed one sends the issue back to development. A later head needs a new permission. An issue that is blocked with `ci_timeout` continues. Idempotent.',
  replies: {
    200: {
      description: 'Result.',
      body: z.object({
        ok: z.literal(true),
        headSha: z.string().nullable().meta({
          description: 'The allowed commit. Null = the issue has no open pull request, and nothing was allowed.',
        }),
      }),
    },
  },
});

export const transitionIssue = route({
  ...onIssue,
  id: 'transitionIssue',
  method: 'post',
  path: '/api/issues/{owner}/{repo}/{issue}/transition',
  summary: 'Force a transition',
  description:
    'Moves the issue to the target of any outgoing edge of its current state. The reason is stored unchanged.',
  body: z.object({ targetState: z.string(), reason: RequiredReason }),
  replies: {
    200: { description: 'Moved.', body: z.object({ ok: z.literal(true), from: state, to: state }) },
  },
  errors: [
    ...onIssue.errors,
    { code: 'WORKFLOW_UNAVAILABLE', status: 400 },
    { code: 'INVALID_TRANSITION', status: 400 },
  ],
  refusals: {
    ...refusals,
    body: { code: 'INVALID_STATE', message: 'targetState must be a string' },
    fields: {
      targetState: { code: 'INVALID_STATE', message: 'targetState must be a string' },
      reason: REASON_REFUSAL,
    },
  },
});

const validTransitions = route({
  ...onIssue,
  id: 'validTransitions',
  method: 'get',
  path: '/api/issues/{owner}/{repo}/{issue}/valid-transitions',
  summary: 'List valid transitions',
  description: 'Returns the targets of all outgoing edges of the current state in the active workflow.',
  replies: {
    200: {
      description: 'Current state and valid targets.',
      body: z.object({ currentState: state, validTargets: z.array(state) }),
    },
  },
  errors: [...onIssue.errors, { code: 'WORKFLOW_UNAVAILABLE', status: 400 }],
  refusals,
});

export const issueActionRoutes = [
  pauseIssue,
  resumeIssue,
  unblockIssue,
  retryIssue,
  cancelIssue,
  acceptIssueText,
  allowUncheckedMerge,
  transitionIssue,
  validTransitions,
] as const;
