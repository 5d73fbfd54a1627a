import { METRIC_REGISTRY } from '@pipeline/domain';
import type { Store } from '@pipeline/store';
import { type Rows, samplesOf } from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import type { Asker } from './asker.ts';

type Repo = Rows['repos'][number];
type Issue = Rows['issues'][number];

/** The samples of a text of metrics, by name and labels. */
const samplesIn = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );

/** Sums of fractions of cents, added up in another order. */
const CENTS = 1e-6;

export async function askMetrics(asker: Asker, rows: Rows, now: number): Promise<void> {
  await asker.expect('/prometheus', samplesOf(rows, now), {
    shaped: samplesIn,
    off: (place) => (place.includes('usd') ? CENTS : 0),
  });
}

/** What a repo has beside its issues: knowledge, tracks, a strategy; each by its rows. */
export async function askRepo(asker: Asker, { fleet }: Store, repo: Repo): Promise<void> {
  const whose = `repo=${repo.slug}&tenant=${repo.tenant}`;
  const of = async (table: string) => {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(table)} where tenant_id = ${repo.tenantId} and repo_id = ${repo.id}`.execute(
      fleet,
    );
    return rows[0]?.n ?? 0;
  };
  await asker.expect(`/api/intelligence?${whose}`, { page: { total: await of('intelligence_items') } });
  const { rows: items } = await sql<{ id: string; title: string }>`
    select id, title from intelligence_items where tenant_id = ${repo.tenantId} and repo_id = ${repo.id}
    order by id limit 3`.execute(fleet);
  for (const item of items) await asker.expect(`/api/intelligence/${item.id}`, { item });
  await asker.ask(`/api/intelligence/retrieve?${whose}&issue=7&agent=developer`);
  const { tracks } = await asker.ask<{ tracks: { name: string }[] }>(`/api/tracks?${whose}`);
  asker.compare('/api/tracks', tracks.length, await of('tracks'));
  for (const { name } of tracks)
    await asker.expect(`/api/tracks/${repo.slug}/${name}/prompts?tenant=${repo.tenant}`, { versions: [] });
  for (const what of ['snapshots', 'charter', 'run-state', 'automation']) {
    await asker.ask(`/api/strategy/${repo.slug}/${what}?tenant=${repo.tenant}`);
  }
}

/** What an issue has beside its story. */
export async function askBeside(asker: Asker, { fleet }: Store, repo: Repo, issue: Issue): Promise<void> {
  const place = `/api/issues/${repo.slug}/${issue.number}`;
  const { rows: left } = await sql<{ id: number; runId: number; title: string }>`
    select id, run_id as "runId", title from artefacts where issue_id = ${issue.id} order by id`.execute(fleet);
  await asker.expect(`${place}/artefacts?tenant=${repo.tenant}`, { items: left });
  const { rows: runs } = await sql<{ id: number }>`
    select id from runs where issue_id = ${issue.id} order by id limit 1`.execute(fleet);
  for (const { id } of runs) {
    await asker.expect(`/api/runs/${id}/artefacts`, { items: left.filter(({ runId }) => runId === id) });
  }
  const { rows: seen } = await sql<{ id: string; status: string }>`
    select f.id, f.status from finding_sightings s join findings f on f.id = s.finding_id
    where s.issue_id = ${issue.id} order by f.created_at desc, f.id`.execute(fleet);
  await asker.expect(`${place}/findings?tenant=${repo.tenant}`, { items: seen });
  await asker.ask(`${place}/valid-transitions?tenant=${repo.tenant}`);
  await askMessages(asker, fleet, repo, issue);
}

/** Messages of agents about an issue; calls of tools only when requested. */
async function askMessages(asker: Asker, fleet: Store['fleet'], repo: Repo, issue: Issue): Promise<void> {
  const { rows: said } = await sql<{ content: string | null; subtype: string }>`
    select content, subtype from agent_messages where issue_id = ${issue.id}
    order by task_created_at, task_id, invocation_index, sequence limit 500`.execute(fleet);
  const path = `/api/logs/messages?owner=${repo.owner}&repo=${repo.name}&tenant=${repo.tenant}&issue=${issue.number}`;
  const shown = said.map(({ content, subtype }) => ({ subtype, content: subtype.startsWith('tool') ? null : content }));
  await asker.expect(path, { items: shown });
  await asker.expect(`${path}&include=tools`, { items: said });
}

/** What is about the process and not about the store: it answers. */
export async function askProcess(asker: Asker): Promise<void> {
  for (const path of [
    '/health',
    '/ready',
    '/api/openapi.json',
    '/api/auth/session',
    '/',
    '/api/config-summary',
    '/api/logs',
  ])
    await asker.ask(path);
  const { items } = await asker.ask<{ items: { id: string }[] }>('/api/metric-definitions');
  const known = new Set(items.map(({ id }) => id));
  asker.compare('/api/metric-definitions', METRIC_REGISTRY.filter(({ id }) => !known.has(id)).length, 0);
}

export async function askTracks(asker: Asker, { fleet }: Store): Promise<void> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from tracks t join repos r on r.id = t.repo_id where r.enabled`.execute(fleet);
  for (const path of ['/api/si-tracks', '/api/pipeline/si-tracks', '/pipeline/si-tracks']) {
    const { items } = await asker.ask<{ items: unknown[] }>(path);
    asker.compare(path, items.length, rows[0]?.n ?? 0);
  }
}
