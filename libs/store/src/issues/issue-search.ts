import type { CheckState, IssueListItem, State, WarnAfterMinutes } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { WORK_TYPES } from '../queue/work-types.ts';
import { slaLimitOf } from '../workflow/sla.ts';

export interface IssueSearch {
  /** Null = all tenants. */
  tenantId: number | null;
  /** Null = all enabled repos of them. */
  repoId: number | null;
  states: readonly State[];
  /** All of these. */
  flags: readonly ('blocked' | 'paused')[];
  what: { number: number } | { text: string } | null;
}

/** Facts about a listed issue that operators see beside its list item. */
interface OperatorFacts {
  repo: string;
  tenant: string;
  /** Attempt of the pending or claimed task; null without one. */
  attempt: number | null;
  maxAttempts: number | null;
  /** Null = the state has no limit. */
  slaMinutes: number | null;
  unreportedCosts: number;
  /** State of the checks of the head of the open pull request; null without one or without checks. */
  checks: CheckState | null;
}

export type FoundIssue = IssueListItem & OperatorFacts;

const NOTE = fleetNote('operators see all tenants');

/**
 * One row more than `limit` if there is one. Longest in state first. Cost beside the search: five index probes per row.
 * @param limits of the states of repos whose workflow sets none.
 */
export async function findIssues(
  fleet: Db,
  search: IssueSearch,
  { limits, ...page }: { limit: number; offset: number; limits: WarnAfterMinutes },
): Promise<FoundIssue[]> {
  if (search.states.length === 0) return [];
  const { rows } = await withFacts(pageStatement(search, page), limits).execute(fleet);
  return rows.map(({ item, ...facts }) => ({ ...facts, ...item }));
}

type Row = OperatorFacts & { item: IssueListItem };

/** The checks of a page are grouped beside it: a lateral subquery for each row would be refused by a distributed store. */
const withFacts = (page: RawBuilder<unknown>, limits: WarnAfterMinutes): RawBuilder<Row> => sql`
  ${NOTE}
  with p as materialized (
    select l.*, coalesce(l.body, l.big_body)::json as item,
      (coalesce(l.body, l.big_body)::json ->> 'prNumber')::bigint as pr_number
    from (${page}) l
  ), c as materialized (
    select r.tenant_id, r.repo_id, r.number,
      case when bool_or(c.state = 'failure') then 'failure' when bool_or(c.state = 'pending') then 'pending'
        else 'success' end as state
    from p
    join pull_requests r on r.tenant_id = p.tenant_id and r.repo_id = p.repo_id and r.number = p.pr_number
    join commit_checks c on c.tenant_id = r.tenant_id and c.repo_id = r.repo_id and c.sha = r.head_sha
    where r.state = 'open'
    group by r.tenant_id, r.repo_id, r.number
  )
  select p.item, p.repo, p.tenant, k.attempt, k.max_attempts as "maxAttempts",
    ${slaLimitOf(limits)} as "slaMinutes", i.unreported_costs as "unreportedCosts", c.state as checks
  from p
  join issues i on i.tenant_id = p.tenant_id and i.repo_id = p.repo_id and i.issue_number = p.issue_number
  left join tasks k on k.tenant_id = i.tenant_id and k.issue_id = i.id and k.task_type in (${WORK_TYPES})
  left join workflow_snapshots w on w.tenant_id = i.tenant_id and w.repo_id = i.repo_id and w.active
  left join c on c.tenant_id = i.tenant_id and c.repo_id = i.repo_id and c.number = p.pr_number
  order by p.state_entered_at, p.tenant_id, p.repo_id, p.issue_number`;

/**
 * Without a search the first rows of each state are read in order (issue_list_in_state, issue_list_by_state); a number
 * is looked up in each repo; a text by the trigrams of the titles (issues_by_title), and its matches are sorted.
 */
const pageStatement = (search: IssueSearch, page: { limit: number; offset: number }): RawBuilder<unknown> => sql`
  select l.*, t.external_id as tenant
  from (${candidates(search, page.offset + page.limit + 1)}) l
  join tenants t on t.id = l.tenant_id
  order by l.state_entered_at, l.tenant_id, l.repo_id, l.issue_number
  limit ${page.limit + 1} offset ${page.offset}`;

const columns = sql`
  l.tenant_id, l.repo_id, l.issue_number, l.state_entered_at, l.body, l.big_body, r.owner || '/' || r.name as repo`;

function candidates(search: IssueSearch, most: number): RawBuilder<unknown> {
  const { what, states } = search;
  const conditions = sql.join(conditionsOf(search), sql` and `);
  if (what === null) {
    return sql.join(
      states.map(
        (state) => sql`(
          select ${columns} from issue_list l join repos r on r.tenant_id = l.tenant_id and r.id = l.repo_id
          where l.state = ${state} and ${conditions}
          order by l.state_entered_at, l.tenant_id, l.repo_id, l.issue_number limit ${most})`,
      ),
      sql` union all `,
    );
  }
  const found = 'number' in what ? sql`l.issue_number = ${what.number}` : sql`i.title ilike ${likePattern(what.text)}`;
  const titles =
    'number' in what
      ? sql``
      : sql`join issues i
          on i.tenant_id = l.tenant_id and i.repo_id = l.repo_id and i.issue_number = l.issue_number`;
  return sql`
    select ${columns} from repos r
    join issue_list l on l.tenant_id = r.tenant_id and l.repo_id = r.id
    ${titles}
    where ${found} and l.state = any(${states}::text[]) and ${conditions}`;
}

const conditionsOf = ({ tenantId, repoId, flags }: IssueSearch): RawBuilder<unknown>[] => [
  sql`r.enabled`,
  ...(tenantId === null ? [] : [sql`l.tenant_id = ${tenantId}`]),
  ...(repoId === null ? [] : [sql`l.repo_id = ${repoId}`]),
  ...flags.map((flag) => (flag === 'blocked' ? sql`l.is_blocked` : sql`l.is_paused`)),
];

/** The text anywhere in the title, with its wildcards escaped. */
const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** Total number of issues, from the counters of the repos plus pending deltas. */
export async function countFound(fleet: Db, search: Omit<IssueSearch, 'what'>): Promise<number> {
  const conditions = sql.join(conditionsOf({ ...search, what: null }), sql` and `);
  const of = (table: RawBuilder<unknown>) => sql`
    select l.n from ${table} l join repos r on r.tenant_id = l.tenant_id and r.id = l.repo_id
    where l.state = any(${search.states}::text[]) and ${conditions}`;
  const { rows } = await sql<{ n: number }>`
    ${NOTE}
    select coalesce(sum(n), 0) as n from (
      ${of(sql`issue_counts`)} union all ${of(sql`issue_count_deltas`)}
    ) c`.execute(fleet);
  return rows[0]?.n ?? 0;
}
