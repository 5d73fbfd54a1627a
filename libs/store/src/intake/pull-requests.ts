import { type HostPullRequest, OWN_BRANCH_PREFIX } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { CURRENT_TIME, svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

export type PullRequestRow = Selectable<DB['pull_requests']>;

/** True for a pull request on the branch that the pipeline names; workers may name another one. */
export const onOwnBranch = sql<boolean>`starts_with(head_ref, ${sql.lit(OWN_BRANCH_PREFIX)})`;

/** The statement of `ownPullRequest` for some columns, also a part of others. */
export const ownPullRequestFor = (
  issueId: RawBuilder<unknown>,
  tenantId: RawBuilder<unknown>,
  columns: readonly string[] = COLUMNS.pull_requests,
): RawBuilder<PullRequestRow> => sql`
  select ${sql.join(columns.map((column) => sql.ref(column)))} from pull_requests
  where tenant_id = ${tenantId} and issue_id = ${issueId} and state = 'open' and agent_authored
  order by ${onOwnBranch} desc, number desc limit 1`;

const own = prepared('own-pull-request', (_db, p: Params<{ tenantId: number; issueId: number }>) =>
  ownPullRequestFor(p('issueId'), p('tenantId')),
);

/**
 * The open pull request of an issue that is the pipeline's own (`agent_authored`): of several the one on its own branch,
 * else the newest. Those of other people are never returned, whatever their branch is named.
 */
export const ownPullRequest = (db: Db, tenantId: number, issueId: number): Promise<PullRequestRow | undefined> =>
  own.first(db, { tenantId, issueId });

const ofIssue = prepared('pull-requests-of-issue', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('pull_requests')
    .select(COLUMNS.pull_requests)
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .orderBy('number'),
);

export const pullRequestsOf = (db: Db, tenantId: number, issueId: number): Promise<PullRequestRow[]> =>
  ofIssue.all(db, { tenantId, issueId });

const byNumber = (db: Db, tenantId: number, repoId: number, number: number) =>
  db
    .selectFrom('pull_requests')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('number', '=', number);

export const findPullRequest = (
  db: Db,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<PullRequestRow | undefined> => byNumber(db, tenantId, repoId, number).executeTakeFirst();

/** Locks a pull request; its issue, if it has one, is locked before it. */
export const lockPullRequest = (
  tx: Tx,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<PullRequestRow | undefined> => byNumber(tx, tenantId, repoId, number).forUpdate().executeTakeFirst();

/**
 * Stores the host's report of a pull request. One that is the pipeline's own stays so, also after the setting that
 * names the identities has changed. The caller holds the locks of the recorded issue and of the new one.
 */
export async function upsertPullRequest(
  tx: Tx,
  tenantId: number,
  pr: HostPullRequest,
  { repoId, ...link }: { repoId: number; issueId: number | null; isOwn: boolean },
): Promise<void> {
  const values = {
    title: pr.title,
    body: pr.body,
    url: pr.url,
    head_repo: pr.headRepo,
    head_ref: pr.headRef,
    head_sha: pr.headSha,
    base_ref: pr.baseRef,
    state: pr.state,
    draft: pr.draft,
    merged: pr.merged,
    merged_at: pr.mergedAt,
    merge_sha: pr.merged ? pr.mergeCommitSha : null,
    author: pr.author,
    opened_at: pr.createdAt,
    host_updated_at: pr.updatedAt,
  };
  await tx
    .insertInto('pull_requests')
    .values({
      ...values,
      tenant_id: tenantId,
      repo_id: repoId,
      number: pr.number,
      issue_id: link.issueId,
      agent_authored: link.isOwn,
    })
    .onConflict((c) =>
      c.columns(['tenant_id', 'repo_id', 'number']).doUpdateSet((eb) => ({
        ...values,
        issue_id: eb.ref('excluded.issue_id'),
        agent_authored: sql<boolean>`pull_requests.agent_authored or excluded.agent_authored`,
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute();
}

export async function updatePullRequest(
  tx: Tx,
  tenantId: number,
  id: number,
  change: Change<'pull_requests'>,
): Promise<void> {
  await tx
    .updateTable('pull_requests')
    .set({ ...change, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

const close = prepared('close-pull-request', (db, p: Params<{ tenantId: number; id: number }>) =>
  db
    .updateTable('pull_requests')
    .set({ state: sql.lit('closed' as const), updated_at: svcNow })
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('id')),
);

/** Records a pull request of a locked issue as closed before the host reports it. */
export const closePullRequest = (tx: Tx, tenantId: number, id: number): Promise<void> =>
  close.run(tx, { tenantId, id });

const approve = prepared(
  'set-approval',
  (db, p: Params<ReturnType<typeof approvalColumns> & { tenantId: number; id: number }>) =>
    db
      .updateTable('pull_requests')
      .set({
        approved_sha: p('approved_sha'),
        approved_source: p('approved_source'),
        approved_by: p('approved_by'),
        approved_review_id: p('approved_review_id'),
        updated_at: svcNow,
      })
      .where('tenant_id', '=', p('tenantId'))
      .where('id', '=', p('id')),
);

interface NewApproval {
  sha: string;
  source: 'agent' | 'person';
  /** The approver: an agent, a login of the host or an operator. */
  by: string;
  /** Its review on the host, if it was given there. */
  reviewId: number | null;
}

/** Records the approval of a pull request in place of the previous one; null revokes it. */
export const setApproval = (tx: Tx, tenantId: number, id: number, approval: NewApproval | null): Promise<void> =>
  approve.run(tx, { tenantId, id, ...approvalColumns(approval) });

const approvalColumns = (approval: NewApproval | null) => ({
  approved_sha: approval?.sha ?? null,
  approved_source: approval?.source ?? null,
  approved_by: approval?.by ?? null,
  approved_review_id: approval?.reviewId ?? null,
});

interface OpenedPullRequest {
  repoId: number;
  issueId: number;
  number: number;
  url: string;
  /** The repository itself, `owner/name`. */
  headRepo: string;
  headSha: string;
  headRef: string;
  baseRef: string;
  title: string;
  body: string;
  changedFiles: string[];
}

/**
 * Links a pull request that the pipeline opened to its issue. If a webhook reported it first, the head from the webhook
 * is kept.
 */
export async function openedPullRequest(tx: Tx, tenantId: number, pr: OpenedPullRequest): Promise<void> {
  await tx
    .insertInto('pull_requests')
    .values({
      tenant_id: tenantId,
      repo_id: pr.repoId,
      issue_id: pr.issueId,
      number: pr.number,
      title: pr.title,
      body: pr.body,
      url: pr.url,
      head_repo: pr.headRepo,
      head_ref: pr.headRef,
      head_sha: pr.headSha,
      base_ref: pr.baseRef,
      state: 'open',
      agent_authored: true,
      changed_files: pr.changedFiles,
      opened_at: svcNow,
    })
    .onConflict((c) =>
      c.columns(['tenant_id', 'repo_id', 'number']).doUpdateSet({
        // A linked pull request never changes its issue.
        issue_id: sql<number>`coalesce(pull_requests.issue_id, excluded.issue_id)`,
        agent_authored: true,
        head_sha: sql<string>`case when pull_requests.host_updated_at is null then excluded.head_sha
          else pull_requests.head_sha end`,
        changed_files: pr.changedFiles,
      }),
    )
    .execute();
}

export async function markMerged(
  tx: Tx,
  tenantId: number,
  { repoId, number, sha }: { repoId: number; number: number; sha: string | null },
): Promise<void> {
  await tx
    .updateTable('pull_requests')
    .from(CURRENT_TIME)
    .set((eb) => ({
      state: 'closed',
      merged: true,
      merged_at: eb.fn.coalesce('merged_at', 'n.now'),
      merge_sha: eb.fn.coalesce(eb.val(sha), 'merge_sha'),
      updated_at: svcNow,
    }))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('number', '=', number)
    .execute();
}

/** Marks merged pull requests as reverted by another one. @returns those that were not marked before. */
export async function markReverted(
  tx: Tx,
  tenantId: number,
  { repoId, numbers, shas, by }: { repoId: number; numbers: number[]; shas: string[]; by: number },
): Promise<{ number: number; issueId: number | null }[]> {
  return tx
    .updateTable('pull_requests')
    .set({ reverted_by: by, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('merged', '=', true)
    .where('reverted_by', 'is', null)
    .where('number', '<>', by)
    .where(sql<boolean>`(number = any(${numbers}) or merge_sha = any(${shas}))`)
    .returning(['number', 'issue_id as issueId'])
    .execute();
}
