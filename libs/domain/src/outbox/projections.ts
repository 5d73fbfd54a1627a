import { z } from 'zod';
import { backoffMs } from '../backoff.ts';
import type { State } from '../states.ts';
import { HOUR_MS } from '../windows.ts';

const labels = z.array(z.string().min(1)).max(100);
const pr = z.int().positive();

/**
 * The host writes. A `marker` is hidden in the written text, so that a repeated attempt finds the result of the first
 * one.
 */
export const ProjectionAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('addLabels'), labels }),
  z.object({ type: z.literal('removeLabels'), labels }),
  z.object({ type: z.literal('swapLabels'), remove: labels, add: labels }),
  z.object({
    type: z.literal('closeIssue'),
    reason: z.enum(['completed', 'not_planned']),
    comment: z.string().nullable(),
  }),
  z.object({ type: z.literal('reopenIssue') }),
  z.object({ type: z.literal('postComment'), body: z.string(), marker: z.string() }),
  z.object({ type: z.literal('updateComment'), marker: z.string(), body: z.string() }),
  z.object({ type: z.literal('createIssue'), title: z.string(), body: z.string(), labels, marker: z.string() }),
  z.object({ type: z.literal('linkSubIssue'), parentIssueNumber: pr, childIssueNumber: pr }),
  z.object({ type: z.literal('assignIssue'), assignees: z.array(z.string()) }),
  z.object({
    type: z.literal('createPR'),
    head: z.string(),
    base: z.string(),
    title: z.string(),
    body: z.string(),
    draft: z.boolean(),
    marker: z.string(),
  }),
  z.object({
    type: z.literal('updatePR'),
    prNumber: pr,
    title: z.string().optional(),
    body: z.string().optional(),
    draft: z.boolean().optional(),
  }),
  z.object({ type: z.literal('requestReview'), prNumber: pr, reviewers: z.array(z.string()) }),
  z.object({
    type: z.literal('submitReview'),
    prNumber: pr,
    event: z.enum(['approve', 'request_changes', 'comment']),
    body: z.string(),
    comments: z.array(z.object({ path: z.string(), line: z.int().positive(), body: z.string() })),
  }),
  z.object({
    type: z.literal('mergePR'),
    prNumber: pr,
    method: z.enum(['merge', 'squash', 'rebase']),
    expectedHeadSha: z.string(),
    /** Title of a squashed commit; absent = that of the host. */
    title: z.string().optional(),
  }),
  z.object({ type: z.literal('updateBranch'), prNumber: pr, expectedHeadSha: z.string() }),
  z.object({ type: z.literal('closePR'), prNumber: pr, comment: z.string().nullable() }),
  z.object({ type: z.literal('deleteBranch'), branch: z.string() }),
  z.object({
    type: z.literal('setCommitStatus'),
    sha: z.string(),
    /** Pull request whose head the commit must be; absent in entries of older releases. */
    prNumber: pr.optional(),
    context: z.string(),
    state: z.enum(['error', 'failure', 'pending', 'success']),
    description: z.string(),
    targetUrl: z.string().nullable(),
  }),
]);

export type ProjectionAction = z.infer<typeof ProjectionAction>;
export type ProjectionType = ProjectionAction['type'];

/** State in which an issue waits for a host write, and the state that the write leads to. */
interface AwaitedWrite {
  waitsIn: State;
  leadsTo: State;
}

/** Host writes on which the progress of an issue depends: without them it would wait permanently. */
export const AWAITED_WRITES: Partial<Record<ProjectionType, AwaitedWrite>> = {
  createPR: { waitsIn: 'in-review', leadsTo: 'in-review' },
  mergePR: { waitsIn: 'merge-pending', leadsTo: 'done' },
  deleteBranch: { waitsIn: 'ready-for-dev', leadsTo: 'ready-for-dev' },
  createIssue: { waitsIn: 'waiting-for-subtasks', leadsTo: 'waiting-for-subtasks' },
};

export const PROJECTION_STATUSES = ['pending', 'failed', 'complete', 'discarded'] as const;
export type ProjectionStatus = (typeof PROJECTION_STATUSES)[number];

/** A failed entry at the head blocks later entries in its lane of its issue only. */
export const LANES = ['pr', 'issue', 'labels', 'talk'] as const;
export type Lane = (typeof LANES)[number];

const LANE: Record<ProjectionType, Lane> = {
  addLabels: 'labels',
  removeLabels: 'labels',
  swapLabels: 'labels',
  closeIssue: 'issue',
  reopenIssue: 'issue',
  createIssue: 'issue',
  linkSubIssue: 'issue',
  assignIssue: 'issue',
  postComment: 'talk',
  updateComment: 'talk',
  createPR: 'pr',
  updatePR: 'pr',
  requestReview: 'pr',
  submitReview: 'pr',
  mergePR: 'pr',
  updateBranch: 'pr',
  closePR: 'pr',
  deleteBranch: 'pr',
  setCommitStatus: 'pr',
};

export const laneOf = (action: ProjectionAction): Lane => LANE[action.type];

export const MAX_PROJECTION_ATTEMPTS = 8;

/** The maximum number of content writes that an action may need. */
export function writesOf(action: ProjectionAction): number {
  switch (action.type) {
    case 'removeLabels':
      return action.labels.length;
    case 'swapLabels':
      return action.remove.length + 1;
    case 'closeIssue':
    case 'closePR':
      return action.comment === null ? 1 : 2;
    case 'updatePR':
      return 2;
    default:
      return 1;
  }
}

const PROJECTION_CAP_MS = HOUR_MS;

/**
 * Delay before the next attempt of a projection, in milliseconds: min(30·2^attempt, 3600) s ±20 %.
 * @param attempt the attempt that failed, counted from 0.
 * @param random a number from 0 to 1, drawn again for each call.
 */
export const projectionDelayMs = (attempt: number, random: number): number =>
  backoffMs(attempt, PROJECTION_CAP_MS, random);
