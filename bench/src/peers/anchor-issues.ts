import pg from 'pg';
import type { Bench } from '../runner/model.ts';

export const ANCHOR_ORGS = 20;
const REPOS_OF_ORG = 10;

/** The page as rows, of an organisation and a moment drawn at random: the query that anyone would write. */
export const PAGE_SCRIPT = `\\set org random(1, ${ANCHOR_ORGS})
\\set minutes random(1, 2000)
select * from anchor_issues where org_id = :org and updated_at < timestamptz '2026-06-01' - :minutes * interval '1 minute'
order by updated_at desc, id desc limit 50;
`;

/** One row by its primary key. */
export const pointScript = (issues: number): string => `\\set id random(1, ${issues})
select * from anchor_issues where id = :id;
`;

/** The revision of a repo drawn at random, one row by its primary key; \gset fails unless it is one row. */
export const REVISION_SCRIPT = `\\set org random(1, ${ANCHOR_ORGS})
\\set repo random(1, ${REPOS_OF_ORG})
select revision from anchor_revisions where org_id = :org and repo_id = :repo \\gset
`;

/**
 * As many issues in a plain table with the index that its query wants, and a revision of each repo.
 * @returns the address of its database.
 */
export async function makeAnchorIssues(bench: Bench, issues: number): Promise<string> {
  const url = await bench.server.emptyDatabase('bench_reads_anchor');
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await admin.query(`
      create table anchor_issues (
        id bigint primary key, org_id integer not null, issue_number integer not null, title text not null,
        url text not null, state text not null, is_blocked boolean not null, is_paused boolean not null,
        labels text[] not null, created_at timestamptz not null, updated_at timestamptz not null)`);
    await admin.query(
      `insert into anchor_issues
       select n, 1 + n % ${ANCHOR_ORGS}, n / ${ANCHOR_ORGS}, 'Issue ' || n || ' of a repo', 'http://127.0.0.1/' || n,
         'planning', false, false, '{svc:planning,bug}', now(), timestamptz '2026-06-01' - (n / ${ANCHOR_ORGS}) * interval '1 minute'
       from generate_series(1, $1) n`,
      [issues],
    );
    await admin.query(`
      create table anchor_revisions (org_id integer, repo_id integer, revision bigint not null, primary key (org_id, repo_id))`);
    await admin.query(
      `insert into anchor_revisions
       select org, repo, 1 from generate_series(1, ${ANCHOR_ORGS}) org, generate_series(1, ${REPOS_OF_ORG}) repo`,
    );
    await admin.query('create index on anchor_issues (org_id, updated_at desc, id desc)');
    await admin.query('vacuum analyze');
    return url;
  } finally {
    await admin.end();
  }
}
