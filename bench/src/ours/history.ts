import { priorityOf, stateLabel } from '@pipeline/domain';
import { aggregateIssueCounts, inTransaction, refreshIssueList } from '@pipeline/store';
import type { OurStore } from './store.ts';

const CHUNK = 100_000;

/**
 * Issues that have come as far as `analyzing`, each with what its way there leaves behind: a finished run, a
 * transition, an event of either kind and a projection that was sent. `withTasks` of them, spread evenly, have their
 * analyze task ready. Foreign keys are not checked while the rows go in.
 */
export async function makeHistory(ours: OurStore, issues: number, withTasks: number): Promise<void> {
  const client = await ours.admin.connect();
  try {
    await client.query(`set session_replication_role = replica`);
    const repos = ours.repoIds;
    const first = repos[0] ?? 0;
    for (let from = 0; from < issues; from += CHUNK) {
      const values = [ours.tenantId, first, repos.length, from, Math.min(CHUNK, issues - from)];
      for (const statement of ROWS_OF_CHUNK) await client.query(statement, values);
    }
    const every = Math.floor(issues / withTasks);
    await client.query(
      `insert into tasks (tenant_id, id, work_id, repo_id, issue_id, issue_number, task_type, priority, turn, max_attempts)
       select tenant_id, t.task_id, t.task_id, repo_id, id, issue_number, 'analyze', $2, id, 3
       from issues, lateral (select gen_random_uuid() as task_id where issues.id > 0) t
       where tenant_id = $1 and id % $3 = 0 limit $4`,
      [ours.tenantId, priorityOf('analyze'), every, withTasks],
    );
    await client.query('analyze');
    const { rows } = await client.query<{ id: number }>('select id::int from issues where tenant_id = $1', [
      ours.tenantId,
    ]);
    await listAll(
      ours,
      rows.map(({ id }) => id),
    );
    await client.query('vacuum analyze');
  } finally {
    await client.query('set session_replication_role = default');
    client.release();
  }
}

const LISTED_AT_ONCE = 5_000;

/** Writes the rows of lists and counts by the statement of the product. */
async function listAll({ store, tenantId, repoIds }: OurStore, issueIds: readonly number[]): Promise<void> {
  for (let at = 0; at < issueIds.length; at += LISTED_AT_ONCE) {
    const ids = issueIds.slice(at, at + LISTED_AT_ONCE);
    await inTransaction(store.db, (tx) => refreshIssueList(tx, tenantId, ids, false));
  }
  for (const repoId of repoIds) await aggregateIssueCounts(store.db, tenantId, repoId);
}

/** Issue n of a chunk belongs to repo n modulo their number; ids follow from the sequences, which nobody else uses. */
const SERIES = `
  with n as (
    select n as at, $2::bigint + n % $3::int as repo_id, 1 + n / $3::int as number
    from generate_series($4::int, $4::int + $5::int - 1) as n
  )`;

const ROWS_OF_CHUNK: readonly string[] = [
  `${SERIES}
   insert into issues (tenant_id, repo_id, issue_number, title, body, url, author, labels, state, state_entered_at,
     host_created_at, host_updated_at)
   select $1, repo_id, number, 'Issue ' || number, repeat('Something is wrong. ', 20), 'http://127.0.0.1/' || at, 'ann',
     '{${stateLabel('analyzing')}}', 'analyzing', now(), now(), now() from n`,
  `${SERIES}
   insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, actor_type, duration_in_from_ms,
     admitted_at, is_first)
   select $1, n.repo_id, i.id, 'new', 'analyzing', 'admitted', 'workflow-engine', 5, i.created_at, true
   from n join issues i on i.tenant_id = $1 and i.repo_id = n.repo_id and i.issue_number = n.number`,
  `${SERIES}
   insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
   select $1, n.repo_id, i.id, n.number, 'state_transition', 'workflow-engine', '{"from": "new", "to": "analyzing"}'
   from n join issues i on i.tenant_id = $1 and i.repo_id = n.repo_id and i.issue_number = n.number`,
  `${SERIES}
   insert into issue_events (tenant_id, issue_id, actor_type, status, state)
   select $1, i.id, 'workflow-engine', 'moved to analyzing', 'analyzing'
   from n join issues i on i.tenant_id = $1 and i.repo_id = n.repo_id and i.issue_number = n.number`,
  `${SERIES}
   insert into runs (tenant_id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent, worker_id,
     claim_token_hash, status, claimed_at, finished_at, lease_expires_at, outcome)
   select $1, t.id, t.id, n.repo_id, i.id, n.number, 'analyze', 0, 'analyzer', 'w', t.id::text, 'lost', now(), now(), now(), null
   from n join issues i on i.tenant_id = $1 and i.repo_id = n.repo_id and i.issue_number = n.number,
     lateral (select gen_random_uuid() as id where n.at >= 0) t`,
  `${SERIES}
   insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, status, attempts, max_attempts,
     client_type, idempotency_key)
   select $1, n.repo_id, i.id, n.number, 'labels', '{"type": "swapLabels", "add": ["svc:analyzing"], "remove": []}',
     'complete', 1, 10, 'sandbox', gen_random_uuid()::text
   from n join issues i on i.tenant_id = $1 and i.repo_id = n.repo_id and i.issue_number = n.number`,
];
