import type { State } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

interface BlockedRow {
  owner: string;
  repo: string;
  issueNumber: number;
  title: string;
  state: State;
  blockReason: string | null;
  blockedSince: string;
  lastError: string | null;
}

const MAX_ERROR = 2_000;

/**
 * Blocked issues of the enabled repos of all tenants, longest blocked first. Costs the blocked issues (index
 * issues_blocked).
 */
export async function blockedIssues(fleet: Db, limit: number): Promise<BlockedRow[]> {
  const { rows } = await sql<BlockedRow>`
    ${fleetNote('operators see all tenants')}
    select r.owner, r.name as repo, i.issue_number as "issueNumber", i.title, i.state,
      i.block_reason as "blockReason", i.state_entered_at as "blockedSince",
      left(i.last_error, ${sql.lit(MAX_ERROR)}) as "lastError"
    from issues i
    join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id and r.enabled
    where i.is_blocked and i.is_open
    order by i.state_entered_at, r.slug_key, i.issue_number
    limit ${limit}`.execute(fleet);
  return rows;
}

/** Total number of blocked issues. */
export async function countBlockedIssues(fleet: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('operators see all tenants')}
    select count(*) as n from issues i
    join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id and r.enabled
    where i.is_blocked and i.is_open`.execute(fleet);
  return rows[0]?.n ?? 0;
}
