import { DAY_MS, INTELLIGENCE_KINDS, INTELLIGENCE_STATUSES } from '@pipeline/domain';
import { aggregateIssueCounts, closeFacts, type Db, inTransaction, refreshIssueList, type Tx } from '@pipeline/store';
import { sql } from 'kysely';
import { derivedOf } from './derived.ts';
import { type Draw, drawOf } from './draw.ts';
import { insertRows } from './insert-rows.ts';
import { tellIssue } from './issues.ts';
import { strayPullRequest } from './pull-requests.ts';
import { type Chronicle, type Counters, iso, noRows, STORY_TABLES, type StoryRepo } from './story.ts';
import { tenantTables } from './tables.ts';
import { withoutChecks } from './without-checks.ts';
import { makePartitions, makeWorld, type World } from './world.ts';

export interface HistoryOptions {
  tenants: number;
  /** Number of repos of all tenants together, dealt out to the tenants in turn. */
  repos: number;
  days: number;
  issues: number;
  seed: number;
  /** End of the history: hold the store's clock there. */
  end: Date;
  /** True (the default) = the facts are closed; false = all are open. */
  aggregated?: boolean;
}

/** The size that every number of the product is shown at. */
export const FULL_HISTORY = { tenants: 20, repos: 200, days: 30, issues: 100_000 } as const;

export interface History {
  /** Included; the end is not. */
  start: Date;
  end: Date;
  tenants: { id: number; externalId: string }[];
  repos: { tenantId: number; tenant: string; id: number; slug: string }[];
}

const ISSUES_AT_ONCE = 1_000;

/**
 * Fills an empty database with the past of a deployment: what the engine would have written, had it all happened. The
 * same options make the same history. Issues are in every state, with every flag; runs fail and are lost, tasks
 * wait, dead letters are open, pull requests are merged, closed and reverted.
 * @param db a pool of a superuser: foreign keys are not checked while the rows go in.
 */
export async function simulateHistory(db: Db, options: HistoryOptions): Promise<History> {
  const { seed, end, days, issues } = options;
  const start = new Date(end.getTime() - days * DAY_MS);
  const draw = drawOf(seed);
  await makePartitions(db, start, end);
  const world = await makeWorld(db, draw, { ...options, start });
  const counters = await countersOf(db);
  const numbers = new Map<StoryRepo, number>();
  const most = Math.ceil((issues / options.repos) * 3) + 10;
  for (const repo of world.repos) repo.lastNumber = most;
  for (let done = 0; done < issues; done += ISSUES_AT_ONCE) {
    const chronicle: Chronicle = { draw, end: end.getTime(), counters, rows: noRows() };
    const first = counters.issue + 1;
    for (let n = 0; n < Math.min(ISSUES_AT_ONCE, issues - done); n += 1) {
      const repo = busyRepo(draw, world, (one) => (numbers.get(one) ?? 0) < most);
      const number = (numbers.get(repo) ?? 0) + 1;
      numbers.set(repo, number);
      // Some came lately, or few would still be on their way.
      const age = draw.real() ** (draw.chance(Math.min(0.35, 7 / days)) ? 10 : 1);
      const enteredAt = end.getTime() - age * (end.getTime() - start.getTime());
      tellIssue(chronicle, repo, { number, enteredAt });
      if (draw.chance(0.08)) strayPullRequest(chronicle, repo, enteredAt);
    }
    await keep(db, chronicle, first);
  }
  await finish(db, counters, world);
  await addBeside(db, { start, end });
  // For the plans of what adds all of it up.
  await analyze(db, (name) => FACTS.has(name));
  if (options.aggregated ?? true) await closeFacts(db, days * 24 + 1);
  await analyze(db, (name) => !FACTS.has(name));
  return {
    start,
    end,
    tenants: world.tenants,
    repos: world.repos.map((repo) => ({
      tenantId: repo.tenantId,
      tenant: repo.tenant,
      id: repo.id,
      slug: `${repo.owner}/${repo.name}`,
    })),
  };
}

/** Tables from which the rollups are made. */
const FACTS: ReadonlySet<string> = new Set([
  ...['tenants', 'repos', 'issues', 'transitions', 'runs'],
  ...['agent_invocations', 'cost_events', 'pipeline_events'],
]);

/** Not the catalogue: it is most of what a plain `analyze` reads, and nothing of it has changed. */
async function analyze(db: Db, whether: (name: string) => boolean): Promise<void> {
  const tables = (await tenantTables(db)).filter(whether);
  await sql.raw(`analyze ${tables.join(', ')}`).execute(db);
}

/** Some repos are busier than others, as far as there is room for the numbers of their issues. */
function busyRepo(draw: Draw, { repos }: World, hasRoom: (repo: StoryRepo) => boolean): StoryRepo {
  for (;;) {
    const repo = repos[Math.floor(repos.length * draw.real() ** 1.5)];
    if (repo && hasRoom(repo)) return repo;
  }
}

async function keep(db: Db, { rows, counters }: Chronicle, first: number): Promise<void> {
  const tenantIds = [...new Set(rows.issues.map((issue) => issue.tenant_id))];
  await inTransaction(db, async (tx) => {
    await withoutChecks(tx);
    for (const table of STORY_TABLES) await insertRows(tx, table, rows[table]);
    for (const statement of derivedOf({ tenantIds, first, last: counters.issue })) await statement.execute(tx);
    for (const tenantId of tenantIds) {
      const ids = rows.issues.filter((issue) => issue.tenant_id === tenantId).map((issue) => Number(issue.id));
      await refreshIssueList(tx, tenantId, [...new Set([...ids, ...(await parts(tx, tenantId, rows))])], false);
    }
  });
}

/** Issues that became parts of epics: their lists show it, and they may have been written earlier. */
async function parts(tx: Tx, tenantId: number, { issue_edges }: Chronicle['rows']): Promise<number[]> {
  const edges = issue_edges.filter(({ tenant_id, kind }) => tenant_id === tenantId && kind === 'subtask');
  const { rows } = await sql<{ id: number }>`
    select i.id from unnest(${edges.map((edge) => edge.child_repo_id)}::bigint[],
      ${edges.map((edge) => edge.child_issue_number)}::int[]) part (repo_id, number)
    join issues i on i.tenant_id = ${tenantId} and i.repo_id = part.repo_id and i.issue_number = part.number`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

const SEQUENCES = { issue: 'issue_id_seq', run: 'run_id_seq', transition: 'transition_id_seq' } as const;

async function countersOf(db: Db): Promise<Counters> {
  const { rows } = await sql<Omit<Counters, 'turn'>>`
    select nextval('issue_id_seq') as issue, nextval('run_id_seq') as run, nextval('transition_id_seq') as transition`.execute(
    db,
  );
  if (!rows[0]) throw new Error('the sequences gave nothing');
  return { ...rows[0], turn: 0 };
}

/** Sets sequences and counters to where the history stopped, and makes the rollups by repo. */
async function finish(db: Db, counters: Counters, world: World): Promise<void> {
  for (const [name, sequence] of Object.entries(SEQUENCES)) {
    await sql`select setval(${sequence}, ${counters[name as keyof typeof SEQUENCES]})`.execute(db);
  }
  for (const { tenantId, id } of world.repos) await aggregateIssueCounts(db, tenantId, id);
}

/** Adds what repos have beside their issues: files, knowledge about them, self-improvement tracks with their issues. */
async function addBeside(db: Db, { start, end }: { start: Date; end: Date }): Promise<void> {
  const began = sql`${iso(start.getTime())}::timestamptz`;
  const ended = sql`${iso(end.getTime())}::timestamptz`;
  await sql`
    insert into repo_files (tenant_id, repo_id, path, symbols, updated_at)
    select tenant_id, id, 'src/part-' || n || '.ts', '[]', ${began} from repos, generate_series(1, 40) n`.execute(db);
  await sql`
    insert into intelligence_items (tenant_id, id, repo_id, kind, title, summary, status, confidence, source, metadata, tags,
      fingerprint, first_observed_at, last_observed_at, observation_count, created_at, updated_at)
    select r.tenant_id, overlay(overlay(md5(r.id || '/' || n) placing '7' from 13) placing '8' from 17)::uuid, r.id, (${[...INTELLIGENCE_KINDS]}::text[])[1 + n % ${INTELLIGENCE_KINDS.length}::int],
      'What part ' || n || ' is about', 'Part ' || n || ' of issue handling rests on part ' || n + 1 || '.',
      (${[...INTELLIGENCE_STATUSES]}::text[])[1 + (r.id + n) % ${INTELLIGENCE_STATUSES.length}::int], 0.5 + n / 50.0, 'retrospective',
      '{}', array['part-' || n], 'history-' || n, ${began}, ${ended} - make_interval(hours => n), n, ${began}, ${began}
    from repos r, generate_series(1, 20) n`.execute(db);
  await sql`
    insert into tracks (tenant_id, repo_id, name, label, cooldown_minutes, enabled, weight, cadence_kind, cron_expr,
      schedule_since, last_run_at, next_run_at, created_at, updated_at)
    select r.tenant_id, r.id, t.name, 'track:' || t.name, 60, r.id % 7 <> 0, 1, t.cadence, t.cron, ${began},
      ${ended} - make_interval(mins => (r.id % 90)::int), ${ended} - make_interval(mins => (r.id % 90)::int - 60), ${began}, ${began}
    from repos r, (values ('tests', 'cooldown', null), ('docs', 'cron', '0 3 * * 1')) t (name, cadence, cron)`.execute(
    db,
  );
  await sql`
    insert into si_issues (tenant_id, repo_id, issue_number, track_name, created_at, completed_at, track_id)
    select i.tenant_id, i.repo_id, i.issue_number, t.name, i.created_at,
      case when i.state = 'done' and i.issue_number % 4 > 0 then i.state_entered_at end, t.id
    from tracks t join issues i on i.tenant_id = t.tenant_id and i.repo_id = t.repo_id
    where t.name = 'tests' and i.issue_number between 2 and 9`.execute(db);
}
