import { readFile } from 'node:fs/promises';
import type { Db } from '@pipeline/store';
import { sql } from 'kysely';

/** Options of a connection whose statements are explained: each plan goes to the log of the server. */
export const EXPLAINED = [
  '-c session_preload_libraries=auto_explain',
  '-c auto_explain.log_min_duration=1',
  '-c auto_explain.log_analyze=on',
  '-c auto_explain.log_buffers=on',
  '-c auto_explain.log_timing=off',
  '-c auto_explain.log_format=json',
];

/** Begins every entry of the log, so that those of several lines can be distinguished. */
export const LOG_PREFIX = '~~%a~~';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

interface Explained {
  application: string;
  ms: number;
  text: string;
  plan: PlanNode;
}

/** Rows from which on a table counts as one that grows with history. */
const BIG = 20_000;
/** Rows that a node may throw away, and by what factor they may exceed the rows that it keeps. */
const WASTED = 20_000;
const WASTED_TIMES = 50;

/**
 * Statements that read more rows than they return, by a part of the statement and of the problem, and why each is
 * accepted.
 */
const ACCEPTED: readonly { statement: string; problem: string; why: string }[] = [
  {
    statement: 'extract(epoch from x.finished_at - x.claimed_at)::float8 as seconds',
    problem: 'rows of runs',
    why: 'runs that ended are looked for among the claims of a day: an index over their end would be written with each',
  },
  {
    statement: 'select s.n, s.at from event_counts s',
    problem: 'reads event_counts',
    why: 'a total of all repos takes the sums of all repos, and those of days are a small part beside those of months',
  },
  {
    statement: 'with done as ( select t.tenant_id, t.repo_id, t.issue_id, max(t.at) as at',
    problem: 'reads issues',
    why: 'a week of all repos is a good part of the issues of a month',
  },
  {
    statement:
      'select e.id, r.owner as "repoOwner", r.name as "repoName", e.issue_number as "issueNumber", e.event_type',
    problem: 'rows of pipeline_events',
    why: 'pages of one frequent type far from the newest event are requested rarely: an index for them would be written with each event',
  },
  {
    statement: 'select coalesce(l.body, l.big_body)::json as item',
    problem: 'rows of issue_list',
    why: 'issues that are done and marked are requested rarely, and few: they are found among all that are done',
  },
];

export interface Reading {
  /** The beginning of the statement, in one line. */
  statement: string;
  application: string;
  runs: number;
  slowestMs: number;
  /** Pages of 8 KiB that one run looked at, at most. */
  pages: number;
  problems: Set<string>;
}

/** Every statement that took a millisecond or more, by its text, with what is wrong with how it was run. */
export async function readingsIn(logFile: string, big: ReadonlySet<string>): Promise<Reading[]> {
  const readings = new Map<string, Reading>();
  for (const { application, ms, text, plan } of explainedIn(await readFile(logFile, 'utf8'))) {
    const statement = text.replace(/\s+/g, ' ').trim().slice(0, 160);
    const known = readings.get(statement);
    const reading = known ?? { statement, application, runs: 0, slowestMs: 0, pages: 0, problems: new Set<string>() };
    readings.set(statement, reading);
    reading.runs += 1;
    reading.slowestMs = Math.max(reading.slowestMs, ms);
    reading.pages = Math.max(reading.pages, (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0));
    for (const problem of problemsOf(plan, big)) if (!isAccepted(statement, problem)) reading.problems.add(problem);
  }
  return [...readings.values()];
}

const isAccepted = (statement: string, problem: string): boolean =>
  ACCEPTED.some((one) => statement.includes(one.statement) && problem.includes(one.problem));

function explainedIn(log: string): Explained[] {
  return [...log.matchAll(ENTRY)].map(([, application = '', ms, json = '']) => {
    const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
    return { application, ms: Number(ms), text, plan };
  });
}

/** Entry of the log: connection, duration and plan; lines of an entry after its first are indented. */
const ENTRY = /^~~(.*?)~~LOG: {2}duration: ([\d.]+) ms {2}plan:\n((?:\t.*\n)+)/gm;

function problemsOf(node: PlanNode, big: ReadonlySet<string>): string[] {
  const inside = (node.Plans ?? []).flatMap((each) => problemsOf(each, big));
  const loops = node['Actual Loops'] ?? 0;
  if (loops === 0) return inside;
  const relation = node['Relation Name'] ?? '';
  const [kept, dropped] = [(node['Actual Rows'] ?? 0) * loops, (node['Rows Removed by Filter'] ?? 0) * loops];
  const scans = node['Node Type'].includes('Seq Scan') && big.has(relation);
  const wastes = relation !== '' && dropped > WASTED && dropped > WASTED_TIMES * kept;
  return [
    ...inside,
    ...(scans ? [`reads ${relation} from end to end`] : []),
    ...(wastes ? [`throws away ${Math.round(dropped)} rows of ${relation} and keeps ${Math.round(kept)}`] : []),
  ];
}

/** Tables that grow with history: the big ones, and every partition that holds anything. */
export async function bigTables(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'pipeline'::regnamespace and c.relkind = 'r'
      and (c.reltuples > ${BIG} or c.relispartition and c.reltuples > 0)`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
