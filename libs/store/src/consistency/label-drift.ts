import {
  BLOCKED_LABEL,
  INBOUND_LABELS,
  isOutputLabel,
  LABEL_PREFIX,
  outputLabels,
  PAUSED_LABEL,
  type State,
} from '@pipeline/domain';
import { sql } from 'kysely';
import { type Detector, within } from './detector.ts';

interface Row {
  state: State;
  is_blocked: boolean;
  is_paused: boolean;
  labels: string[];
}

/**
 * Stored labels that show another state, block or pause than the issue has; `outputLabels` of the domain, in SQL.
 * Changes that the outbox has not sent yet are no drift. Cost: the issues that are not done (issues_open), and a probe
 * of the open projections for those that differ.
 */
export const labelDrift: Detector<Row> = {
  query: (scope) => sql`
    select i.tenant_id, i.repo_id, i.issue_number, i.state, i.is_blocked, i.is_paused, i.labels
    from issues i
    cross join lateral (
      select array_remove(array[
        case when i.state <> 'new' then ${LABEL_PREFIX} || i.state end,
        case when i.is_blocked then ${BLOCKED_LABEL} end,
        case when i.is_paused then ${PAUSED_LABEL} end], null) as labels
    ) wanted
    where i.is_open and ${within(scope, 'i')}
      and (not i.labels @> wanted.labels or exists (
        select from unnest(i.labels) l
        where starts_with(l, ${LABEL_PREFIX}) and l <> all (wanted.labels) and l <> all (${INBOUND_LABELS})))
      and not exists (
        select from projections p
        where p.tenant_id = i.tenant_id and p.repo_id = i.repo_id and p.issue_number = i.issue_number
          and p.status = 'pending')`,
  detail: (row) => {
    const wanted = outputLabels({ state: row.state, isBlocked: row.is_blocked, isPaused: row.is_paused });
    return {
      state: row.state,
      isBlocked: row.is_blocked,
      isPaused: row.is_paused,
      labels: row.labels,
      missing: wanted.filter((label) => !row.labels.includes(label)),
      unexpected: row.labels.filter((label) => isOutputLabel(label) && !wanted.includes(label)),
    };
  },
};
