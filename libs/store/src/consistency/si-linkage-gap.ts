import { sql } from 'kysely';
import { type Detector, within } from './detector.ts';

interface Row {
  track_name: string;
  created_at: string;
  state_entered_at: string;
}

/**
 * A self-improvement issue whose pipeline issue is done, while its track still counts it as open. Cost: the open
 * self-improvement issues (si_issues_open), one probe of the issues each.
 */
export const siLinkageGap: Detector<Row> = {
  query: (scope) => sql`
    select s.tenant_id, s.repo_id, s.issue_number, s.track_name, s.created_at, i.state_entered_at
    from si_issues s
    join issues i on i.tenant_id = s.tenant_id and i.repo_id = s.repo_id and i.issue_number = s.issue_number
    where s.completed_at is null and i.state = 'done' and ${within(scope, 's')}`,
  detail: (row) => ({ track: row.track_name, createdAt: row.created_at, doneSince: row.state_entered_at }),
};
