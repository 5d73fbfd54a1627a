import { isState, type State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { type OrgScope, type Reach, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import { countsOf } from '../analytics/issue-counts.ts';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Filter of a list: a category, or one state. */
export type IssueFilter = 'open' | 'blocked' | 'paused' | State;

interface IssuePage {
  repoId: number;
  /** The items as JSON text, with commas between them. */
  items: string;
  total: number;
  /** Changes whenever any row of the repo's list does. */
  revision: number;
  /** Changes that the counters do not include yet. */
  unfolded: number;
}

type Page = Reach & { limit: number; offset: number };

const OPEN = sql`state <> 'done'`;
const CATEGORIES: Record<string, RawBuilder<unknown>> = {
  open: OPEN,
  blocked: sql`is_blocked and ${OPEN}`,
  paused: sql`is_paused and ${OPEN}`,
};

const revisionOf = (p: Params<Reach>) => sql`
  select coalesce(sum(k.writes), 0) as revision from (${countsOf(p('tenantId'), sql`repo.id`)}) k`;

/**
 * A page, its total and the revision in one statement, so that they belong to one snapshot. The default list is an
 * index-only scan; only an item too long for the index costs a read of the table. `limit` and `offset` are subqueries:
 * with plain parameters the server would plan the statement on each call, at more than its own cost.
 */
const pageOf = (p: Params<Page>, which: RawBuilder<unknown>): RawBuilder<IssuePage> => sql`
  with repo as (${reachableRepo(p)})
  select repo.id as "repoId", counted.total, counted.revision, counted.unfolded, (
    select coalesce(string_agg(coalesce(page.body, (
        select l.big_body from issue_list l
        where l.tenant_id = ${p('tenantId')} and l.repo_id = repo.id and l.issue_number = page.issue_number)), ','), '')
    from (
      select issue_number, body from issue_list
      where tenant_id = ${p('tenantId')} and repo_id = repo.id and ${which}
      order by state_entered_at, issue_number
      limit (select ${p('limit')}::bigint) offset (select ${p('offset')}::bigint)
    ) page
  ) as items
  from repo
  cross join lateral (
    select coalesce(sum(n) filter (where ${which}), 0) as total, coalesce(sum(writes), 0) as revision,
      coalesce(sum(unfolded), 0) as unfolded
    from (${countsOf(p('tenantId'), sql`repo.id`)}) k
  ) counted`;

const pages = Object.fromEntries(
  Object.entries(CATEGORIES).map(([name, which]) => [
    name,
    prepared(`page-of-${name}-issues`, (_db, p: Params<Page>) => pageOf(p, which)),
  ]),
);
const pageOfState = prepared('page-of-issues-in-state', (_db, p: Params<Page & { state: string }>) =>
  pageOf(p, sql`state = ${p('state')}`),
);

/** A page of a repo's issues, longest in state first. @returns undefined for a repo out of scope. */
export function issuePage(
  read: Db,
  scope: OrgScope,
  query: { slug: string; filter: IssueFilter; limit: number; offset: number },
): Promise<IssuePage | undefined> {
  const { filter, slug, ...page } = query;
  const params = { ...reachOf(scope, slug), ...page };
  const category = isState(filter) ? undefined : pages[filter];
  return category ? category.first(read, params) : pageOfState.first(read, { ...params, state: filter });
}

const revision = prepared(
  'revision-of-issues',
  (_db, p: Params<Reach>) => sql<{ repoId: number; revision: number }>`
    with repo as (${reachableRepo(p)})
    select repo.id as "repoId", (${revisionOf(p)}) as revision from repo`,
);

/** The revision of a repo's list alone: a few counters. @returns undefined for a repo out of scope. */
export const issueRevision = (
  read: Db,
  scope: OrgScope,
  slug: string,
): Promise<{ repoId: number; revision: number } | undefined> => revision.first(read, reachOf(scope, slug));
