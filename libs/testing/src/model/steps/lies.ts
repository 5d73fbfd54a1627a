import { branchOf, isSideTask, type Outcome } from '@pipeline/domain';
import type { Report } from '@pipeline/engine';
import { sql } from 'kysely';
import { type Held, invocations, ownPull, type World } from '../world/world.ts';

/**
 * - texts: every text and number of the report names another issue, its branch is the claim's own.
 * - branch: the branch is that of another issue, too.
 * - outcome: the outcome is one of another type of task.
 */
export const LIES = ['texts', 'branch', 'outcome'] as const;
export type Lie = (typeof LIES)[number];

/** A report whose fields name things of another issue of the host, or of one that does not exist. */
export function lyingReport(world: World, held: Held, honest: Outcome, lie: Lie): Report {
  const own = held.task.issueNumber ?? 0;
  const other = [...world.host.state.issues.keys()].findLast((number) => number !== own) ?? 99;
  const pull = ownPull(world, other);
  const text = `Fixes #${other}, closes #${pull?.number ?? 98} <!-- svc:pr-${other}-${pull?.headSha ?? 'abc'} -->`;
  const fields: Record<string, string> = {
    branch: branchOf(lie === 'branch' ? other : own),
    headSha: pull?.headSha ?? 'bad0000',
    on: `#${other}`,
    labels: 'svc:enqueue',
  };
  const say = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => say(item, field));
    if (typeof value === 'string') return fields[field] ?? text;
    if (typeof value === 'number') return other;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, say(item, name)]));
  };
  // The fields of side tasks name no issue.
  const result = isSideTask(held.task.taskType) ? honest.result : say(honest.result, '');
  const ofOtherTask = honest.outcome === 'mergeable' ? 'approved' : 'mergeable';
  const outcome = lie === 'outcome' ? ofOtherTask : honest.outcome;
  const finding = {
    findingType: 'risk',
    category: text.slice(0, 60),
    severity: 'high',
    confidence: null,
    title: text,
    summary: text,
    recommendation: text,
    evidence: [],
    metadata: { issueNumber: other, prNumber: pull?.number ?? 98 },
    blocksProgress: false,
  } as const;
  const reported = invocations(world, held, held.costUsd);
  return { outcome, result, artefacts: [], findings: [finding], invocations: reported } as unknown as Report;
}

/** Rows of the other issues that no report about this one may change. */
export async function rowsOfOthers({ database }: World, { task }: Held): Promise<unknown[]> {
  const tables = ['issues', 'pull_requests', 'tasks', 'projections', 'issue_plans', 'review_comments'];
  const others = tables.map((table) => {
    const id = sql.ref(table === 'issues' ? 't.id' : 't.issue_id');
    return sql`select ${sql.lit(table)} as name, to_jsonb(t) as row from ${sql.table(table)} t
      where ${id} is distinct from (select id from issues where issue_number = ${task.issueNumber})`;
  });
  return (await sql`${sql.join(others, sql` union all `)} order by 1, 2`.execute(database.db)).rows;
}
