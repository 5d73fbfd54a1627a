import type { PlanStatus } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** One version of the plan of an issue whose workflow requires an approval. */
export interface PlanVersion {
  version: number;
  /** The version that a person edited; null for the plan of an agent. */
  editsVersion: number | null;
  authorType: 'agent' | 'operator';
  author: string;
  body: string;
  plannedFiles: string[];
  status: PlanStatus;
  answeredBy: string | null;
  answeredAt: string | null;
  reason: string | null;
  createdAt: string;
}

interface PlanKey {
  tenantId: number;
  issueId: number;
}

type NewPlan = Pick<PlanVersion, 'version' | 'editsVersion' | 'authorType' | 'author' | 'body' | 'plannedFiles'>;

/** Stores a new version, pending. The caller holds the lock of the issue, which orders the versions. */
export async function insertPlan(tx: Tx, { tenantId, issueId }: PlanKey, plan: NewPlan): Promise<void> {
  await tx
    .insertInto('issue_plans')
    .values({
      tenant_id: tenantId,
      issue_id: issueId,
      version: plan.version,
      edits_version: plan.editsVersion,
      author_type: plan.authorType,
      author: plan.author,
      body: plan.body,
      planned_files: plan.plannedFiles,
      status: 'pending',
    })
    .execute();
}

interface PlanDecision {
  status: Exclude<PlanStatus, 'pending'>;
  by: string;
  reason: string | null;
}

const answerPending = prepared('answer-plan', (db, p: Params<PlanKey & PlanDecision>) =>
  db
    .updateTable('issue_plans')
    .set({ status: p('status'), answered_by: p('by'), answered_at: svcNow, reason: p('reason') })
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('status', '=', sql.lit('pending' as const)),
);

/** Ends the wait of every pending version of an issue; there is at most one. */
export const answerPlan = (tx: Tx, key: PlanKey, decision: PlanDecision): Promise<void> =>
  answerPending.run(tx, { tenantId: key.tenantId, issueId: key.issueId, ...decision });

/** The time of a version (primary key); undefined for an unknown one. */
export async function planCreatedAt(tx: Tx, { tenantId, issueId }: PlanKey, version: number) {
  const row = await tx
    .selectFrom('issue_plans')
    .select('created_at')
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.created_at;
}

/** A page of the versions of a plan, newest first (primary key), at most `limit`. */
export async function plansOfIssue(
  read: Db,
  { tenantId, issueId }: PlanKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<PlanVersion[]> {
  const { rows } = await sql<PlanVersion>`
    select version, edits_version as "editsVersion", author_type as "authorType", author, body,
      planned_files as "plannedFiles", status, answered_by as "answeredBy", answered_at as "answeredAt", reason,
      created_at as "createdAt"
    from issue_plans where tenant_id = ${tenantId} and issue_id = ${issueId}
    order by version desc limit ${limit} offset ${offset}`.execute(read);
  return rows;
}
