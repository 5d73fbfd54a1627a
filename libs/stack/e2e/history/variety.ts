import {
  BLOCK_REASONS,
  CONSISTENCY_KINDS,
  ERROR_CLASSES,
  FINDING_STATUSES,
  HOLDS,
  INTELLIGENCE_KINDS,
  INTELLIGENCE_STATUSES,
  LANES,
  OUTCOME_NAMES,
  PROJECTION_STATUSES,
  SEVERITIES,
  STATES,
  STOP_REASONS,
  TRIGGERS,
  WORKER_STATUSES,
} from '@pipeline/domain';
import type { Db } from '@pipeline/store';
import { sql } from 'kysely';
import type { Checks } from '../checks.ts';
import type { Asker } from './asker.ts';

/** Kinds that occur in the domain, the columns that hold them, and exceptions that no issue brings about. */
const KINDS: [what: string, column: string, all: readonly string[], except?: readonly string[]][] = [
  ['state', 'state as value from issues', STATES],
  [
    'flag',
    `is_blocked || '/' || is_paused as value from issues`,
    ['true/true', 'true/false', 'false/true', 'false/false'],
  ],
  ['block reason', 'block_reason as value from issues', Object.keys(BLOCK_REASONS)],
  ['block class', 'block_classification as value from issues', ERROR_CLASSES],
  ['trigger', 'trigger as value from transitions', TRIGGERS, ['retrospective', 'scanned', 'mergeable']],
  ['outcome', 'outcome as value from runs', OUTCOME_NAMES, ['scanned']],
  ['run', 'status as value from runs', ['claimed', 'finished', 'failed', 'lost', 'cancelled']],
  ['error class', 'error_class as value from runs', ERROR_CLASSES],
  ['stop reason', 'stop_reason as value from agent_invocations', STOP_REASONS],
  ['hold', 'held as value from tasks', HOLDS],
  ['task', 'status as value from tasks', ['pending', 'claimed']],
  ['write', 'status as value from projections', PROJECTION_STATUSES],
  ['lane', 'lane as value from projections', LANES],
  ['finding', 'status as value from findings', FINDING_STATUSES],
  ['severity', 'severity as value from findings', SEVERITIES],
  ['item of intelligence', 'status as value from intelligence_items', INTELLIGENCE_STATUSES],
  ['kind of intelligence', 'kind as value from intelligence_items', INTELLIGENCE_KINDS],
  ['worker', 'status as value from workers', WORKER_STATUSES],
  ['dead letter', `coalesce(resolution, 'open') as value from dead_letters`, ['open', 'retried', 'resolved']],
];

/** The history has one of everything, or numbers would agree for want of anything to differ in. */
export async function checkVariety(checks: Checks, db: Db, asker: Asker): Promise<void> {
  const missing: string[] = [];
  for (const [what, column, all, except = []] of KINDS) {
    const { rows: found } = await sql<{ value: string }>`select distinct ${sql.raw(column)}`.execute(db);
    const values = new Set(found.map(({ value }) => value));
    missing.push(
      ...all.filter((one) => !values.has(one) && !except.includes(one)).map((one) => `no ${what} is ${one}`),
    );
  }
  const { byKind } = await asker.ask<{ byKind: Record<string, number> }>('/api/pipeline/consistency');
  // Only a host knows of issues that the pipeline does not.
  missing.push(
    ...CONSISTENCY_KINDS.filter((kind) => kind !== 'orphan_missing_from_pg' && !byKind[kind]).map(
      (kind) => `no finding is ${kind}`,
    ),
  );
  checks.none('every state, flag, reason, outcome, hold and status occurs', missing);
}
