import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface Posted {
  kind: 'review' | 'answer' | 'plan-rejection';
  author: string;
  body: string;
  path?: string | null;
  line?: number | null;
}

const insert = prepared(
  'insert-remarks',
  (_db, p: Params<{ tenantId: number; issueId: number; posts: string }>) => sql`
    insert into review_comments (tenant_id, id, issue_id, kind, author, body, path, line)
    select ${p('tenantId')}, r.id, ${p('issueId')}, r.kind, r.author, r.body, r.path, r.line
    from jsonb_to_recordset(${p('posts')}::jsonb) as r (id uuid, kind text, author text, body text, path text,
      line integer)`,
);

/** Stores a reviewer's request, a person's answer or the reason of a rejected plan for the agent that works on the issue next. */
export async function insertRemarks(
  tx: Tx,
  tenantId: number,
  issueId: number,
  posts: readonly Posted[],
): Promise<void> {
  if (posts.length === 0) return;
  const rows = posts.map((post) => ({ id: timeOrderedId(), ...post }));
  await insert.run(tx, { tenantId, issueId, posts: JSON.stringify(rows) });
}

export type Post = Pick<Selectable<DB['review_comments']>, 'kind' | 'author' | 'body' | 'path' | 'line'>;

/** One review has up to 201 of them. */
export const MOST_POSTS_OF_KIND = 250;

/** The newest comments of each kind on an issue, oldest first: a long review must not hide an answer after it. */
export const postsFor = (p: Params<{ tenantId: number; issueId: number | null }>): RawBuilder<Post> => sql`
  select kind, author, body, path, line from (
    select kind, author, body, path, line, created_at, id,
      row_number() over (partition by kind order by created_at desc, id desc) as place
    from review_comments where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')}
  ) post
  where place <= ${sql.lit(MOST_POSTS_OF_KIND)} order by created_at, id`;

/** Review comments apply to one round: the next submission settles them. */
export const clearReviewRemarks = (tx: Tx, tenantId: number, issueId: number): Promise<void> =>
  clear.run(tx, { tenantId, issueId, kind: 'review' });

/** The reasons of rejected plans apply until a plan is approved. */
export const clearPlanRejections = (tx: Tx, tenantId: number, issueId: number): Promise<void> =>
  clear.run(tx, { tenantId, issueId, kind: 'plan-rejection' });

interface RemarksOfIssue {
  tenantId: number;
  issueId: number;
  kind: 'review' | 'plan-rejection';
}

const clear = prepared('clear-remarks', (db, p: Params<RemarksOfIssue>) =>
  db
    .deleteFrom('review_comments')
    .where('tenant_id', '=', p('tenantId'))
    .where('issue_id', '=', p('issueId'))
    .where('kind', '=', p('kind')),
);

/** Claims a comment or review of the host for processing. @returns false when it was processed before. */
export async function takeRemark(
  tx: Tx,
  tenantId: number,
  repoId: number,
  post: { kind: 'comment' | 'review'; hostId: number },
): Promise<boolean> {
  const row = await tx
    .insertInto('seen_remarks')
    .values({ tenant_id: tenantId, repo_id: repoId, kind: post.kind, host_id: post.hostId })
    .onConflict((c) => c.columns(['tenant_id', 'repo_id', 'kind', 'host_id']).doNothing())
    .returning('host_id')
    .executeTakeFirst();
  return row !== undefined;
}
