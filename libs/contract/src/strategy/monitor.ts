import { CharterEnvelope, isStorable, LISTED_SNAPSHOT_STATUSES } from '@pipeline/domain';
import { z } from 'zod';
import { keptText, Ok, Reason, UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { StrategyAutomation, StrategyCharter, StrategyRun, StrategySnapshot } from './resources.ts';

const repo = z.object({
  owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
});
const query = z.object({
  tenant: z.string().max(200).optional().meta({
    description: 'External id of the tenant; needed only where several have a repo of that name.',
    example: 'default',
  }),
});
const snapshot = repo.extend({
  version: z
    .string()
    .regex(/^-?\d+$/, 'must be an integer')
    .meta({ description: 'Version of the snapshot.', example: '3' }),
});

/** What all of them share. A malformed path, query or small body is answered alike (interface: Strategy). */
const onRepo = {
  auth: 'operator',
  tags: ['Strategy'],
  params: repo,
  query,
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo.' }],
  refusals: { params: { code: 'INVALID_INPUT' } },
} as const;
const onSnapshot = { ...onRepo, params: snapshot, errors: [...onRepo.errors, 'SNAPSHOT_NOT_FOUND'] } as const;
const deciding = {
  ...onSnapshot,
  method: 'post',
  bodyOptional: true,
  refusals: {
    params: { code: 'INVALID_INPUT' },
    json: { code: 'INVALID_INPUT', message: 'Invalid JSON body' },
    body: { code: 'INVALID_INPUT' },
  },
} as const;

/** How people are named who are not known by a login. */
const Person = keptText(200)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .default('operator');

/** Of a charter, in bytes. */
const CHARTER_LIMIT = 1024 * 1024;

export const listSnapshots = route({
  ...onRepo,
  id: 'listStrategySnapshots',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/snapshots',
  summary: 'List strategy snapshots',
  description:
    'Newest first, at most 500. Without a status: proposed and active. A rejected one is read by its version.',
  query: query.extend({
    status: z.enum(LISTED_SNAPSHOT_STATUSES).optional().meta({ description: 'Only these.', example: 'proposed' }),
  }),
  replies: { 200: { description: 'The list.', body: UnpaginatedResponse(StrategySnapshot) } },
});

export const readSnapshot = route({
  ...onSnapshot,
  id: 'readStrategySnapshot',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}',
  summary: 'Read a strategy snapshot',
  description: 'In any status.',
  replies: { 200: { description: 'The snapshot.', body: z.object({ snapshot: StrategySnapshot }) } },
});

export const approveSnapshot = route({
  ...deciding,
  id: 'approveStrategySnapshot',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}/approve',
  summary: 'Approve a strategy snapshot',
  description:
    'Applies it to the tracks and makes it the active one, or changes nothing: when another one became active since it was made, when a track says something else by now, and when the charter forbids it.',
  body: z.object({
    approver: Person.meta({ description: 'Who approves; shown with the snapshot.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'It is active.', body: Ok } },
  errors: [...onSnapshot.errors, 'STRATEGY_APPLY_FAILED'],
});

export const rejectSnapshot = route({
  ...deciding,
  id: 'rejectStrategySnapshot',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}/reject',
  summary: 'Reject a strategy snapshot',
  description: 'For good. Only one that is proposed can be rejected.',
  body: z.object({ reason: Reason.optional() }),
  replies: { 200: { description: 'Rejected.', body: Ok } },
  errors: [...onSnapshot.errors, 'INVALID_INPUT'],
});

export const readCharter = route({
  ...onRepo,
  id: 'readStrategyCharter',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/charter',
  summary: 'Read the charter of a repo',
  description: 'The one in force; null before there is one.',
  replies: { 200: { description: 'The charter.', body: z.object({ charter: StrategyCharter.nullable() }) } },
});

export const putCharter = route({
  ...onRepo,
  id: 'putStrategyCharter',
  method: 'put',
  path: '/api/strategy/{owner}/{repo}/charter',
  summary: 'Replace the charter of a repo',
  description: 'At most 1 MiB. It is in force at once, as the next version; the former ones are kept.',
  body: z.object({
    goals: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be blank')
      .refine(isStorable, 'must hold no NUL and no half of a surrogate pair'),
    envelope: CharterEnvelope,
    author: Person.meta({ description: 'Who wrote it; shown with the charter.' }),
    reason: Reason.optional(),
  }),
  bodyLimit: CHARTER_LIMIT,
  replies: {
    200: { description: 'In force.', body: z.object({ ok: z.literal(true), version: z.int().positive() }) },
  },
});

export const readRunState = route({
  ...onRepo,
  id: 'readStrategyRunState',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/run-state',
  summary: 'Read how the weekly cycle stands',
  description: 'The latest cycle; null before there was one.',
  replies: { 200: { description: 'The cycle.', body: z.object({ run: StrategyRun.nullable() }) } },
});

export const readAutomation = route({
  ...onRepo,
  id: 'readStrategyAutomation',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/automation',
  summary: 'Read whether a proposal is made every week',
  description: 'It is off where nobody has turned it on.',
  replies: { 200: { description: 'The toggle.', body: z.object({ automation: StrategyAutomation }) } },
});

export const putAutomation = route({
  ...onRepo,
  id: 'putStrategyAutomation',
  method: 'put',
  path: '/api/strategy/{owner}/{repo}/automation',
  summary: 'Have a proposal made every week, or not',
  description:
    'One in each ISO week, once there is a charter; the first one at once. What the charter lets pass is applied by itself, the rest waits as proposed.',
  body: z.object({ enabled: z.boolean(), reason: Reason.optional() }),
  replies: {
    200: { description: 'Set.', body: z.object({ ok: z.literal(true), automation: StrategyAutomation }) },
  },
  refusals: {
    ...onRepo.refusals,
    body: { code: 'INVALID_BODY', message: 'Missing required boolean field: enabled' },
    fields: { reason: { code: 'INVALID_BODY' } },
  },
});

export const strategyRoutes = [
  listSnapshots,
  readSnapshot,
  approveSnapshot,
  rejectSnapshot,
  readCharter,
  putCharter,
  readRunState,
  readAutomation,
  putAutomation,
] as const;
