import { STATES } from '@pipeline/domain';
import type { Store } from '@pipeline/store';
import type { Rows } from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import type { Asker } from './asker.ts';

type Repo = Rows['repos'][number];
type Issue = Rows['issues'][number];

/** Routes of the whole deployment. */
const FLEET = [
  '/health',
  '/',
  '/prometheus',
  '/api/openapi.json',
  '/api/auth/session',
  '/api/config-summary',
  '/api/logs',
  '/api/metric-definitions',
  '/api/pipeline/task-queue',
  '/pipeline/task-queue',
  '/api/task-queue',
  '/api/queue/depth',
  '/api/workers',
  '/api/workers/floor',
  '/api/blocked-issues',
  '/api/regression-guard',
  '/api/digest',
  '/api/pipeline/consistency',
  '/pipeline/consistency',
  '/api/si-tracks',
  '/api/pipeline/si-tracks',
  '/pipeline/si-tracks',
  '/api/repos',
  '/api/audit?limit=500',
  '/api/audit/export?format=csv',
  '/api/alerts?limit=500',
  '/api/alerts?limit=500&status=all',
  '/api/consistency?limit=500&offset=500',
  '/api/dead-letters?limit=500&offset=250',
  '/api/projections',
  '/api/projections?status=complete',
  '/dashboard?window=7d',
  '/dashboard?window=30d',
];

/** Requests every list of the whole deployment; the plans of their statements are read from the log of Postgres. */
export async function askFleet(asker: Asker): Promise<void> {
  for (const path of FLEET) await asker.ask(path);
}

/** Requests issues and events by every filter; `whose` limits them to a tenant or a repo, as part of a query. */
export async function askSearch(asker: Asker, whose: string): Promise<void> {
  const filters = ['', 'state=all', 'state=blocked', 'state=paused', 'state=all&flag=paused', 'q=42', 'q=issue 17 of'];
  for (const filter of [...filters, ...STATES.map((state) => `state=${state}`)])
    await asker.ask(`/api/issues?limit=100&${encodeURI(filter)}${whose}`);
  for (const filter of ['limit=50', 'limit=200&offset=1000', 'type=task_claimed', 'type=no_such_type', 'issue=7'])
    await asker.ask(`/api/pipeline-events?${filter}${whose}`);
}

/** Requests what a repo has beside its issues: findings, knowledge, tracks, a strategy. */
export async function askRepo(asker: Asker, { db }: Store, repo: Repo): Promise<void> {
  const whose = `repo=${repo.slug}&tenant=${repo.tenant}`;
  for (const filter of ['', 'status=open', 'severity=high', 'category=security&status=resolved'])
    await asker.ask(`/api/findings?limit=200&${filter}&${whose}`);
  await asker.ask(`/api/intelligence?${whose}`);
  const { rows: items } = await sql<{ id: string }>`
    select id from intelligence_items where tenant_id = ${repo.tenantId} and repo_id = ${repo.id} limit 3`.execute(db);
  for (const { id } of items) await asker.ask(`/api/intelligence/${id}`);
  await asker.ask(`/api/intelligence/retrieve?${whose}&issue=7&agent=developer`);
  const { tracks } = await asker.ask<{ tracks: { name: string }[] }>(`/api/tracks?${whose}`);
  for (const { name } of tracks) await asker.ask(`/api/tracks/${repo.slug}/${name}/prompts?tenant=${repo.tenant}`);
  for (const what of ['snapshots', 'charter', 'run-state', 'automation'])
    await asker.ask(`/api/strategy/${repo.slug}/${what}?tenant=${repo.tenant}`);
}

const OF_AN_ISSUE = [
  'why',
  'digest',
  'status',
  'events',
  'retrospective',
  'artefacts',
  'findings',
  'valid-transitions',
  'plans',
];

/** Requests all reads of one issue. */
export async function askIssue(asker: Asker, { db }: Store, repo: Repo, issue: Issue): Promise<void> {
  const tenant = `tenant=${repo.tenant}`;
  for (const what of OF_AN_ISSUE) await asker.ask(`/api/issues/${repo.slug}/${issue.number}/${what}?${tenant}`);
  await asker.ask(`/api/timeline/${repo.slug}/${issue.number}?${tenant}`);
  const messages = `/api/logs/messages?owner=${repo.owner}&repo=${repo.name}&${tenant}&issue=${issue.number}`;
  await asker.ask(messages);
  await asker.ask(`${messages}&include=tools`);
  const { rows: runs } = await sql<{ id: number }>`
    select id from runs where issue_id = ${issue.id} order by id limit 1`.execute(db);
  for (const { id } of runs) await asker.ask(`/api/runs/${id}/artefacts`);
}
