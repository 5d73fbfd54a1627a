import type { State } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { exactTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { ActorType } from '../records/records.ts';

type OfIssue = { tenantId: number; issueId: number };

export interface IssueTrouble {
  autoUnblockCount: number;
  /** Newest first. */
  recentFailedRuns: { agentName: string; errorMessage: string | null; finishedAt: string | null }[];
}

const MAX_FAILED_RUNS = 10;
const MAX_MESSAGE = 2_000;

const unblocks = prepared('auto-unblocks-of-issue', (db, p: Params<OfIssue>) =>
  db
    .selectFrom('issues')
    .select('auto_unblock_count')
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('issueId')),
);

const failures = prepared('failed-runs-of-issue', (db, p: Params<OfIssue>) =>
  db
    .selectFrom('runs')
    .select([
      'agent as agentName',
      sql<string | null>`left(error_message, ${sql.lit(MAX_MESSAGE)})`.as('errorMessage'),
      'finished_at as finishedAt',
    ])
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('error_message', 'is not', null)
    .orderBy('id', 'desc')
    .limit(sql.lit(MAX_FAILED_RUNS)),
);

/** Summary of an issue's runs so far: two reads by index, over its own runs. */
export async function troubleOfIssue(read: Db, tenantId: number, issueId: number): Promise<IssueTrouble> {
  const [issue, recentFailedRuns] = await Promise.all([
    unblocks.first(read, { tenantId, issueId }),
    failures.all(read, { tenantId, issueId }),
  ]);
  return { autoUnblockCount: issue?.auto_unblock_count ?? 0, recentFailedRuns };
}

export interface IssueStatus {
  currentStatus: string | null;
  state: State;
  stateEnteredAt: string | null;
  lastEventAt: string | null;
}

/** An agent's status writes an event without updating the issue's row, which is kept longer than the events. */
const status = prepared(
  'status-of-issue',
  (_db, p: Params<OfIssue>) => sql<IssueStatus>`
    select i.current_status as "currentStatus", i.state, i.state_entered_at as "stateEnteredAt",
      greatest(i.last_event_at, (
        select e.created_at from issue_events e where e.tenant_id = ${p('tenantId')} and e.issue_id = i.id
        order by e.created_at desc limit 1)) as "lastEventAt"
    from issues i where i.tenant_id = ${p('tenantId')} and i.id = ${p('issueId')}`,
);

export const statusOfIssue = (read: Db, tenantId: number, issueId: number): Promise<IssueStatus | undefined> =>
  status.first(read, { tenantId, issueId });

export interface IssueEvent {
  id: number;
  issueId: number;
  actorType: ActorType;
  actorId: string | null;
  status: string;
  details: Record<string, unknown> | null;
  state: string;
  /** Time with microseconds, as `since` takes it. */
  createdAt: string;
}

type EventQuery = OfIssue & { since: string | null; limit: number; offset: number };

const events = prepared(
  'events-of-issue',
  (_db, p: Params<EventQuery>) => sql<IssueEvent>`
    select id, issue_id as "issueId", actor_type as "actorType", actor_id as "actorId", status, details, state,
      ${exactTime('created_at')} as "createdAt"
    from issue_events
    where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')}
      and created_at > coalesce(${p('since')}::timestamptz, '-infinity')
    order by created_at desc, id desc limit ${p('limit')} offset ${p('offset')}`,
);

/** Events of an issue, newest first, by index issue_events_of_issue in each partition. @param since exclusive. */
export const eventsOfIssue = (
  read: Db,
  tenantId: number,
  query: { issueId: number; since: string | null; limit: number; offset: number },
): Promise<IssueEvent[]> => events.all(read, { tenantId, ...query });

type Notes = Record<string, unknown> | null;

export interface Retrospective {
  id: string;
  issueNumber: number;
  status: string;
  outcomeClassification: string | null;
  summary: string;
  plannedFiles: Notes;
  actualFiles: Notes;
  failures: Notes;
  lessons: Notes;
  createdAt: string;
  updatedAt: string;
}

const retrospective = prepared(
  'retrospective-of-issue',
  (_db, p: Params<OfIssue>) => sql<Retrospective>`
    select r.id, i.issue_number as "issueNumber", r.status, r.outcome_classification as "outcomeClassification",
      r.summary, r.planned_files as "plannedFiles", r.actual_files as "actualFiles", r.failures, r.lessons,
      r.created_at as "createdAt", r.updated_at as "updatedAt"
    from retrospectives r
    join issues i on i.tenant_id = r.tenant_id and i.id = r.issue_id
    where r.tenant_id = ${p('tenantId')} and r.issue_id = ${p('issueId')}
    order by r.id desc limit 1`,
);

/** The newest retrospective of an issue: each end of the issue adds one. */
export const newestRetrospective = (read: Db, tenantId: number, issueId: number): Promise<Retrospective | undefined> =>
  retrospective.first(read, { tenantId, issueId });
