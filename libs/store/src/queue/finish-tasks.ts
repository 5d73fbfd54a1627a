import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** How a claim ended: the report that ended it and the response, which is repeated for the same report. */
interface TaskEnd {
  tokenHash: string;
  outcome: string;
  reportHash: string;
  answer: object;
}

interface Ends {
  tenantId: number;
  tokenHashes: string[];
  outcomes: string[];
  reportHashes: string[];
  answers: string[];
}

const finish = prepared(
  'finish-tasks',
  (_db, p: Params<Ends>) => sql<{ task_id: string }>`
    with ended as (
      update runs r set status = 'finished', outcome = e.outcome, finished_at = svc_now(),
        report_hash = e.report_hash, report_answer = e.answer::jsonb
      from unnest(${p('tokenHashes')}::text[], ${p('outcomes')}::text[], ${p('reportHashes')}::text[],
        ${p('answers')}::text[]) as e (token_hash, outcome, report_hash, answer)
      where r.tenant_id = ${p('tenantId')} and r.claim_token_hash = e.token_hash and r.issue_id is null
        and r.status = 'claimed' and r.lease_expires_at > svc_now()
      returning r.id, r.task_id
    )
    delete from tasks t using ended e
    where t.tenant_id = ${p('tenantId')} and t.id = e.task_id and t.run_id = e.id
    returning t.id as task_id`,
);

/**
 * Ends claims of tasks without an issue in one statement: closes each run and deletes its task. Claims that are no
 * longer valid, or whose task belongs to an issue, are left unchanged.
 * @returns the ids of the tasks that were finished.
 */
export async function finishTasks(db: Db, tenantId: number, ends: readonly TaskEnd[]): Promise<string[]> {
  const rows = await finish.all(db, {
    tenantId,
    tokenHashes: ends.map((end) => end.tokenHash),
    outcomes: ends.map((end) => end.outcome),
    reportHashes: ends.map((end) => end.reportHash),
    answers: ends.map((end) => JSON.stringify(end.answer)),
  });
  return rows.map((row) => row.task_id);
}
