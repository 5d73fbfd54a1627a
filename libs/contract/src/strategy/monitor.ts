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
    description: 'External id of the tenant. Required only when several tenants have a repo with this name.',
    example: 'default',
  }),
});
const snapshot = repo.extend({
  version: z
    .string()
    .regex(/^-?\d+$/, 'must be an integer')
    .meta({ description: 'Snapshot version.', example: '3' }),
});

/** Settings shared by all strategy routes. Malformed paths, queries and small bodies return INVALID_INPUT. */
const onRepo = {
  auth: 'operator',
  tags: ['Strategy'],
  params: repo,
  query,
  errors: [{ code: 'NOT_FOUND', description: 'Unknown repo' }],
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

/** Name of a person, given by the caller. */
const Person = keptText(200)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .default('operator');

/** Maximum size of a charter in bytes. */
const CHARTER_LIMIT = 1024 * 1024;

const listSnapshots = route({
  ...onRepo,
  id: 'listStrategySnapshots',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/snapshots',
  summary: 'List strategy snapshots',
  description:
    'Newest first; at most 500. Default: proposed and active. Rejected snapshots are not listed; read them by version.',
  query: query.extend({
    status: z
      .enum(LISTED_SNAPSHOT_STATUSES)
      .optional()
      .meta({ description: 'Returns only snapshots with this status.', example: 'proposed' }),
  }),
  replies: { 200: { description: 'Snapshots.', body: UnpaginatedResponse(StrategySnapshot) } },
});

const readSnapshot = route({
  ...onSnapshot,
  id: 'readStrategySnapshot',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}',
  summary: 'Get a strategy snapshot',
  description: 'Returns a snapshot in any status.',
  replies: { 200: { description: 'The snapshot.', body: z.object({ snapshot: StrategySnapshot }) } },
});

const approveSnapshot = route({
  ...deciding,
  id: 'approveStrategySnapshot',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}/approve',
  summary: 'Approve a strategy snapshot',
  description:
    'Applies the snapshot to the tracks and activates it in one transaction. Returns 422 and changes nothing when another snapshot became active since the proposal, when a track was changed since, or when the charter forbids it.',
  body: z.object({
    approver: Person.meta({ description: 'Name of the approver, stored with the snapshot. Default: operator.' }),
    reason: Reason.optional(),
  }),
  replies: { 200: { description: 'The snapshot is active.', body: Ok } },
  errors: [...onSnapshot.errors, 'STRATEGY_APPLY_FAILED'],
});

const rejectSnapshot = route({
  ...deciding,
  id: 'rejectStrategySnapshot',
  path: '/api/strategy/{owner}/{repo}/snapshots/{version}/reject',
  summary: 'Reject a strategy snapshot',
  description: 'Rejects a proposed snapshot permanently.',
  body: z.object({ reason: Reason.optional() }),
  replies: { 200: { description: 'Rejected.', body: Ok } },
  errors: [...onSnapshot.errors, 'INVALID_INPUT'],
});

const readCharter = route({
  ...onRepo,
  id: 'readStrategyCharter',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/charter',
  summary: 'Get the charter of a repo',
  description: 'Returns the active charter, or null when the repo has none.',
  replies: {
    200: { description: 'The active charter, or null.', body: z.object({ charter: StrategyCharter.nullable() }) },
  },
});

const putCharter = route({
  ...onRepo,
  id: 'putStrategyCharter',
  method: 'put',
  path: '/api/strategy/{owner}/{repo}/charter',
  summary: 'Replace the charter of a repo',
  description: 'Stores the charter as the next version, effective immediately. Earlier versions are kept. Limit 1 MiB.',
  body: z.object({
    goals: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be blank')
      .refine(isStorable, 'must not contain NUL or unpaired surrogates'),
    envelope: CharterEnvelope,
    author: Person.meta({ description: 'Name of the author, stored with the charter. Default: operator.' }),
    reason: Reason.optional(),
  }),
  bodyLimit: CHARTER_LIMIT,
  replies: {
    200: {
      description: 'Version of the new charter.',
      body: z.object({ ok: z.literal(true), version: z.int().positive() }),
    },
  },
});

const readRunState = route({
  ...onRepo,
  id: 'readStrategyRunState',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/run-state',
  summary: 'Get the run state of the weekly cycle',
  description: 'Returns the latest cycle, or null before the first one.',
  replies: { 200: { description: 'The latest cycle, or null.', body: z.object({ run: StrategyRun.nullable() }) } },
});

const readAutomation = route({
  ...onRepo,
  id: 'readStrategyAutomation',
  method: 'get',
  path: '/api/strategy/{owner}/{repo}/automation',
  summary: 'Get the automation setting',
  description: 'Returns whether weekly proposals are created automatically. Default: disabled.',
  replies: { 200: { description: 'Automation setting.', body: z.object({ automation: StrategyAutomation }) } },
});

const putAutomation = route({
  ...onRepo,
  id: 'putStrategyAutomation',
  method: 'put',
  path: '/api/strategy/{owner}/{repo}/automation',
  summary: 'Enable or disable automatic weekly proposals',
  description:
    'When enabled, one proposal is created per ISO week for a repo with an active charter; the first one immediately. Proposals within the risk envelope are applied automatically, others wait for approval.',
  body: z.object({ enabled: z.boolean(), reason: Reason.optional() }),
  replies: {
    200: {
      description: 'The updated setting.',
      body: z.object({ ok: z.literal(true), automation: StrategyAutomation }),
    },
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
