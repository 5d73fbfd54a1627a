import type { State } from '@pipeline/domain';
import { sql } from 'kysely';
import { type Reach, type ReadScope, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { StateTransition } from './issue-why.ts';
import { entriesOfIssue, entryJson, type TimelineEntry, timelineHead } from './timeline-entries.ts';

export interface TimelineRow {
  repo: string;
  now: string;
  /** Null for an issue that the pipeline has no record of. */
  issue: {
    issueNumber: number;
    title: string;
    currentState: State;
    isPaused: boolean;
    isBlocked: boolean;
    totalCostUsd: number;
    /** Number of model calls whose cost is unreported. */
    unreportedCosts: number;
    totalDurationMs: number;
    stateTransitions: StateTransition[];
    /** One page of entries, oldest first. */
    entries: TimelineEntry[];
    total: number;
  } | null;
}

const MAX_MOVES = 1_000;

type Query = Reach & { number: number; limit: number; offset: number };

const timeline = prepared(
  'timeline-of-issue',
  (_db, p: Params<Query>) => sql<TimelineRow>`
    with repo as (${reachableRepo(p)})
    select repo.owner || '/' || repo.name as repo, svc_now() as now, found.issue
    from repo
    left join lateral (
      select of_issue.issue from issues i cross join lateral (
        select row_to_json(f) as issue from (select
          ${timelineHead(p('tenantId'), MAX_MOVES, false)},
          (select count(*) from (${entriesOfIssue(p('tenantId'))}) t) as total,
          (select coalesce(json_agg(q), '[]') from (
            ${entryJson(false)} from (${entriesOfIssue(p('tenantId'))}) t order by t.at, t.id limit ${p('limit')} offset ${p('offset')}) q) as entries
        ) f
      ) of_issue
      where i.tenant_id = ${p('tenantId')} and i.repo_id = repo.id and i.issue_number = ${p('number')}
    ) found on true`,
);

/**
 * The timeline of an issue, oldest first. Costs all entries of the issue. @returns undefined for a repo out of scope.
 */
export const issueTimeline = (
  read: Db,
  scope: ReadScope,
  { slug, ...page }: { slug: string; number: number; limit: number; offset: number },
): Promise<TimelineRow | undefined> => timeline.first(read, { ...reachOf(scope, slug), ...page });
