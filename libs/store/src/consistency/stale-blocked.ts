import type { ErrorClass, State } from '@pipeline/domain';
import { sql } from 'kysely';
import { type Detector, within } from './detector.ts';

interface Row {
  title: string;
  state: State;
  block_reason: string | null;
  block_classification: ErrorClass | null;
  blocked_from_state: State | null;
  state_entered_at: string;
}

/**
 * Blocked, not done, and waiting for no other issue. By this definition every failure-blocked issue is one, so the
 * detail shows the kind of block. Cost: the blocked issues (issues_blocked), one probe of the edges each.
 */
export const staleBlocked: Detector<Row> = {
  query: (scope) => sql`
    select i.tenant_id, i.repo_id, i.issue_number, i.title, i.state, i.block_reason, i.block_classification,
      i.blocked_from_state, i.state_entered_at
    from issues i
    where i.is_blocked and i.state <> 'done' and ${within(scope, 'i')}
      and not exists (
        select from issue_edges e
        where e.tenant_id = i.tenant_id and e.kind = 'depends_on' and e.child_repo_id = i.repo_id
          and e.child_issue_number = i.issue_number and e.active)`,
  detail: (row) => ({
    title: row.title,
    state: row.state,
    blockReason: row.block_reason,
    blockClassification: row.block_classification,
    blockedFromState: row.blocked_from_state,
    since: row.state_entered_at,
  }),
};
