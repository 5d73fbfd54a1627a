import type { ChecksWait, ReportedCheck } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { IssueKey } from '../outbox/open-projections.ts';

export type CommitCheckRow = Selectable<DB['commit_checks']>;

interface CommitKey {
  tenantId: number;
  repoId: number;
  sha: string;
}

/**
 * Stores reports about one commit. An older report than the known one, by the host's ids and times, changes nothing; a
 * log that was read before is kept.
 */
export async function saveChecks(tx: Tx, key: CommitKey, checks: readonly ReportedCheck[]): Promise<void> {
  if (checks.length === 0) return;
  await insertion(
    tx,
    key,
    checks,
    sql<boolean>`
    (excluded.host_id, excluded.reported_at) >= (commit_checks.host_id, commit_checks.reported_at)`,
  ).execute();
}

/** Stores all checks that the host shows of a commit now; those that it shows no more are deleted. */
export async function saveAllChecks(tx: Tx, key: CommitKey, checks: readonly ReportedCheck[]): Promise<void> {
  await tx
    .deleteFrom('commit_checks')
    .where('tenant_id', '=', key.tenantId)
    .where('repo_id', '=', key.repoId)
    .where('sha', '=', key.sha)
    .where(sql<boolean>`(kind || ' ' || suite_id::text || ' ' || name) <> all(${checks.map(keyOf)}::text[])`)
    .execute();
  if (checks.length > 0) await insertion(tx, key, checks, sql<boolean>`true`).execute();
}

const keyOf = ({ kind, suiteId = 0, name }: ReportedCheck): string => `${kind} ${suiteId} ${name}`;

const insertion = (tx: Tx, key: CommitKey, checks: readonly ReportedCheck[], isNewer: RawBuilder<boolean>) =>
  tx
    .insertInto('commit_checks')
    .values(
      checks.map((check) => ({
        tenant_id: key.tenantId,
        repo_id: key.repoId,
        sha: key.sha,
        kind: check.kind,
        suite_id: check.suiteId ?? 0,
        name: check.name,
        state: check.state,
        conclusion: check.conclusion,
        url: check.url,
        host_id: check.hostId,
        log_tail: check.logTail ?? null,
        reported_at: check.at,
      })),
    )
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'repo_id', 'sha', 'kind', 'name', 'suite_id'])
        .doUpdateSet((eb) => ({
          state: eb.ref('excluded.state'),
          conclusion: eb.ref('excluded.conclusion'),
          url: eb.ref('excluded.url'),
          host_id: eb.ref('excluded.host_id'),
          log_tail: sql<string | null>`case when excluded.state = 'failure'
            then coalesce(excluded.log_tail, commit_checks.log_tail) end`,
          reported_at: eb.ref('excluded.reported_at'),
        }))
        .where(isNewer),
    );

const ofCommit = prepared('checks-of-commit', (db, p: Params<CommitKey>) =>
  db
    .selectFrom('commit_checks')
    .select(COLUMNS.commit_checks)
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('sha', '=', p('sha'))
    .orderBy('name')
    .orderBy('kind'),
);

/** The checks of a commit by name: a range of the primary key. */
export const checksOfCommit = (db: Db, key: CommitKey): Promise<CommitCheckRow[]> => ofCommit.all(db, key);

/**
 * Names of these checks that are red on at least so many commits that agents of the issue worked on: its runs
 * (runs_of_issue), each with a range of the primary key.
 */
export async function checksRedOnHeads(
  tx: Tx,
  { tenantId, issueId }: { tenantId: number; issueId: number },
  { names, heads }: { names: readonly string[]; heads: number },
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.name from runs r
    join commit_checks c on c.tenant_id = r.tenant_id and c.repo_id = r.repo_id and c.sha = r.head_sha
    where r.tenant_id = ${tenantId} and r.issue_id = ${issueId} and c.state = 'failure' and c.name = any(${names}::text[])
    group by c.name having count(distinct c.sha) >= ${heads} order by c.name`.execute(tx);
  return rows.map(({ name }) => name);
}

/** The checks of the head of an issue's own open pull request, by name, as a payload shows them. */
export const checksFor = (p: Params<{ tenantId: number; issueId: number | null }>): RawBuilder<unknown> => sql`
  select c.name, c.state, c.conclusion, c.url, c.log_tail as "logTail"
  from pull_requests p
  join commit_checks c on c.tenant_id = p.tenant_id and c.repo_id = p.repo_id and c.sha = p.head_sha
  where p.tenant_id = ${p('tenantId')} and p.issue_id = ${p('issueId')} and p.state = 'open' and p.agent_authored
  order by c.name, c.kind`;

/** Issues whose own open pull request has this head: index pull_requests_by_head. */
export async function issuesAtHead(db: Db, { tenantId, repoId, sha }: CommitKey): Promise<number[]> {
  const rows = await db
    .selectFrom('pull_requests')
    .select('issue_id')
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('head_sha', '=', sha)
    .where('state', '=', sql.lit('open'))
    .where('agent_authored', '=', true)
    .execute();
  return rows.flatMap(({ issue_id: id }) => id ?? []);
}

/** The waits for its turn, for its checks, for the queue of the host and for the end of a draft are timed separately. */
const stageOf = (verdict: RawBuilder<unknown>) =>
  sql`case when ${verdict} in ('train', 'queue', 'draft') then ${verdict} else 'checks' end`;

/**
 * Stores what a pull request waits for, and since when: the beginning of the wait for the checks of the same head, for its turn,
 * or for the queue. Null ends it.
 */
export async function setChecksWait(tx: Tx, tenantId: number, id: number, wait: ChecksWait | null): Promise<void> {
  await tx
    .updateTable('pull_requests')
    .set({
      checks_wait: wait && (jsonb(wait) as never),
      checks_wait_since:
        wait &&
        sql<string>`least(svc_now(), case when checks_wait ->> 'sha' = ${wait.sha}
            and ${stageOf(sql`checks_wait ->> 'verdict'`)} = ${stageOf(sql`${wait.verdict}::text`)} then checks_wait_since
          else 'infinity' end)`,
      updated_at: svcNow,
    })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Makes the waiting merge of an issue due now: index projections_open. @returns whether there is one. */
export async function hastenMerge(tx: Tx, issue: IssueKey): Promise<boolean> {
  const result = await tx
    .updateTable('projections')
    .set({ retry_after: null, updated_at: svcNow })
    .where('tenant_id', '=', issue.tenant_id)
    .where('repo_id', '=', issue.repo_id)
    .where('issue_number', '=', issue.issue_number)
    .where('status', '=', sql.lit('pending'))
    .where('retry_after', 'is not', null)
    .where(sql<boolean>`action ->> 'type' = 'mergePR'`)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
