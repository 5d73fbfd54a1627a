import pg from 'pg';
import type { Bench } from '../runner/model.ts';

const ORGS = 20;
const REPOS_OF_ORG = 10;

/** The revision of a repo drawn at random, one row by its primary key; \gset fails unless it is one row. */
export const REVISION_SCRIPT = `\\set org random(1, ${ORGS})
\\set repo random(1, ${REPOS_OF_ORG})
select revision from anchor_revisions where org_id = :org and repo_id = :repo \\gset
`;

/** A revision of each repo. @returns the address of their database. */
export async function makeAnchorRevisions(bench: Bench): Promise<string> {
  const url = await bench.server.emptyDatabase('bench_reads_anchor');
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await admin.query(`
      create table anchor_revisions (org_id integer, repo_id integer, revision bigint not null, primary key (org_id, repo_id))`);
    await admin.query(
      `insert into anchor_revisions
       select org, repo, 1 from generate_series(1, ${ORGS}) org, generate_series(1, ${REPOS_OF_ORG}) repo`,
    );
    await admin.query('vacuum analyze');
    return url;
  } finally {
    await admin.end();
  }
}
