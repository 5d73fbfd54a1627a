import type { Seed } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { msInterval, svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { IssuePlace } from '../workflow/dependencies.ts';
import type { TrackRow } from './tracks.ts';

/** A self-improvement issue; no number = the host has not created it yet. */
type SiIssueRow = Selectable<DB['si_issues']>;

interface NewSiIssue {
  /** Also the key of its entry in the outbox. */
  id: string;
  track: TrackRow;
  seed: Seed;
}

/** Records issues requested from the host. They occupy slots of their repo from now on. */
export async function insertSiIssues(tx: Tx, issues: readonly NewSiIssue[]): Promise<void> {
  if (issues.length === 0) return;
  await tx
    .insertInto('si_issues')
    .values(
      issues.map(({ id, track, seed }) => ({
        id,
        tenant_id: track.tenant_id,
        repo_id: track.repo_id,
        track_id: track.id,
        track_name: track.name,
        prompt_version: track.active_version,
        size: seed.size,
        theme: seed.theme,
      })),
    )
    .execute();
}

/** Locks the self-improvement issue that an outbox entry creates; undefined for an entry of another origin. */
export const lockSiIssue = (tx: Tx, tenantId: number, id: string): Promise<SiIssueRow | undefined> =>
  tx
    .selectFrom('si_issues')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

/** Records that the host has created it. */
export async function linkSiIssue(tx: Tx, tenantId: number, id: string, issueNumber: number): Promise<void> {
  await tx
    .updateTable('si_issues')
    .set({ issue_number: issueNumber, completed_at: null })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Sets whether an issue that the host has not created yet is wanted; an unwanted one occupies no slot. */
export async function setSiIssueWanted(tx: Tx, tenantId: number, id: string, wanted: boolean): Promise<void> {
  await tx
    .updateTable('si_issues')
    .set({ completed_at: wanted ? null : svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('issue_number', 'is', null)
    .execute();
}

const settle = prepared(
  'settle-si-issue',
  (_db, p: Params<{ tenantId: number; repoId: number; number: number; done: boolean }>) => sql`
    update si_issues set completed_at = (select svc_now() where ${p('done')}::boolean)
    where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')} and issue_number = ${p('number')}
      and (completed_at is null) = ${p('done')}::boolean`,
);

/**
 * Records that the issue has ended, or was reopened; does nothing for an issue without a track. One probe of
 * si_issues_by_number.
 */
export const settleSiIssue = (tx: Tx, tenantId: number, { repoId, number }: IssuePlace, done: boolean): Promise<void> =>
  settle.run(tx, { tenantId, repoId, number, done });

interface Served {
  track_id: number;
  count: number;
}

/** Number of open or requested issues of a repo; each occupies a slot. */
export async function countOpenSiIssues(db: Db, tenantId: number, repoId: number): Promise<number> {
  const row = await db
    .selectFrom('si_issues')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('completed_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.n;
}

/** Number of issues that each track of a repo got in the last `ms` milliseconds (index si_issues_recent). */
export const servedSince = (
  db: Db,
  { tenantId, repoId }: { tenantId: number; repoId: number },
  ms: number,
): Promise<Served[]> =>
  db
    .selectFrom('si_issues')
    .select(['track_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('track_id', 'is not', null)
    .where('created_at', '>', sql<string>`svc_now() - ${msInterval(ms)}`)
    .groupBy('track_id')
    .execute() as Promise<Served[]>;

interface Prompt {
  version: number;
  instructions: string;
}

/**
 * Instructions for the agents of a self-improvement issue or of one of its subtasks; no row for any other issue. A part
 * of the payload of a task. A few probes of unique indexes: subtasks are two levels deep at most. (As a plain join, older
 * servers read all edges of the repo for it.)
 */
export const promptFor = (p: Params<{ tenantId: number; repoId: number; number: number }>): RawBuilder<Prompt> => sql`
    with recursive family (issue_number, depth) as (
      select ${p('number')}::integer, 0
      union all
      select epic.parent_issue_number, f.depth + 1
      from family f
      cross join lateral (
        select e.parent_issue_number from issue_edges e
        where e.tenant_id = ${p('tenantId')} and e.kind = 'subtask' and e.child_repo_id = ${p('repoId')}
          and e.child_issue_number = f.issue_number and e.parent_repo_id = ${p('repoId')}
        limit 1
      ) epic
      where f.depth < 2
    )
    select t.version, t.instructions
    from family f
    join si_issues s on s.tenant_id = ${p('tenantId')} and s.repo_id = ${p('repoId')}
      and s.issue_number = f.issue_number
    join track_prompts t on t.tenant_id = s.tenant_id and t.track_id = s.track_id and t.version = s.prompt_version
    order by f.depth
    limit 1`;
