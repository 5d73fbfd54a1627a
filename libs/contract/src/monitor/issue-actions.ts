import { STATES } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, REASON_REFUSAL, RequiredReason, withReason } from '../envelopes.ts';
import { route } from '../route.ts';
import { issueParams, tenantQuery } from './issue-address.ts';

const state = z.enum(STATES);

/** What all of them share: who may call, and how a path that names no issue is answered (interface: Issue actions). */
const onIssue = {
  auth: 'operator',
  tags: ['Issue actions'],
  params: issueParams,
  query: tenantQuery,
  errors: ['ISSUE_NOT_FOUND', { code: 'NOT_FOUND', description: 'Unknown repo, or a malformed path.' }],
} as const;
const refusals = { params: { code: 'NOT_FOUND', message: 'Not found' } } as const;
const plain = { ...onIssue, ...withReason, method: 'post', refusals } as const;
const withState = z.object({ ok: z.literal(true), state: state.meta({ description: 'Where the issue is now.' }) });

export const pauseIssue = route({
  ...plain,
  id: 'pauseIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/pause',
  summary: 'Pause an issue',
  description:
    'Nothing new is claimed for it; work under way may finish. Repeating changes nothing, nor does pausing an issue that is done.',
  replies: { 200: { description: 'Paused.', body: Ok } },
});

export const resumeIssue = route({
  ...plain,
  id: 'resumeIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/resume',
  summary: 'Resume a paused issue',
  description: 'Its work may be claimed again. An issue that is not paused, or is done, stays as it is.',
  replies: { 200: { description: 'Resumed.', body: withState } },
});

export const unblockIssue = route({
  ...plain,
  id: 'unblockIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/unblock',
  summary: 'Unblock an issue',
  description:
    'Sends it back to where it was stopped. Dependencies it waited for count as resolved. An issue that is not blocked, or is done, stays as it is.',
  replies: { 200: { description: 'Unblocked.', body: withState } },
});

export const retryIssue = route({
  ...plain,
  id: 'retryIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/retry',
  summary: 'Have the work of the state done again',
  description:
    'Leaves the state. A blocked issue is freed when the outcome of the retry is applied. A state without work stays as it is, as does an issue that is done: a transition to `new` starts that one again.',
  replies: { 200: { description: 'Enqueued.', body: withState } },
});

export const cancelIssue = route({
  ...plain,
  id: 'cancelIssue',
  path: '/api/issues/{owner}/{repo}/{issue}/cancel',
  summary: 'Cancel an issue',
  description: 'It is done without its work. A worker that is still at it learns so at its next heartbeat.',
  replies: { 200: { description: 'Cancelled.', body: Ok } },
});

export const acceptIssueText = route({
  ...plain,
  id: 'acceptIssueText',
  path: '/api/issues/{owner}/{repo}/{issue}/accept-text',
  summary: 'Accept the changed text of an issue',
  description:
    'Title and body that agents work on are the ones that were enqueued; a change by somebody without write permission has no effect. This accepts the change that `textChange` of the issue’s explanation reports. Repeating changes nothing.',
  body: plain.body.extend({
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .meta({ description: '`textChange.sha256` of the text that was read: another text is not accepted.' }),
  }),
  replies: {
    200: {
      description: 'Done.',
      body: z.object({
        ok: z.literal(true),
        accepted: z.boolean().meta({ description: 'False when there was no such change to accept.' }),
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
  description: 'To any outgoing edge of the current state. The reason is kept as it was given.',
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

export const validTransitions = route({
  ...onIssue,
  id: 'validTransitions',
  method: 'get',
  path: '/api/issues/{owner}/{repo}/{issue}/valid-transitions',
  summary: 'List where an issue may be moved',
  description: 'Every outgoing edge of the current state in the active workflow.',
  replies: {
    200: { description: 'The targets.', body: z.object({ currentState: state, validTargets: z.array(state) }) },
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
  transitionIssue,
  validTransitions,
] as const;
