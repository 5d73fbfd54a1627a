/** Asks Prometheus and Grafana about the dashboard of deploy/grafana. */
import { until } from './report.ts';

const WITHIN_MS = 60_000;
/** Endings that Prometheus adds to the name of a histogram. */
const PARTS = /_(bucket|sum|count)$/;

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
  templating: { list: { query: string }[] };
}

/** Returns the queries of a dashboard, for all repositories. */
export function queriesOf(dashboard: string): string[] {
  const { panels } = JSON.parse(dashboard) as Dashboard;
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll('$repo', '.*')));
}

/** @throws Error with the query that is refused, or whose metrics no process exports. */
export async function queryAll(prometheus: string, queries: readonly string[]): Promise<string> {
  const get = async (path: string) =>
    (await fetch(prometheus + path)).json() as Promise<{ status: string; data: never }>;
  const metrics = [...new Set(queries.flatMap((query) => query.match(/\bsvc_\w+/g) ?? []))];
  const missing = async () => {
    const { data } = await get('/api/v1/metadata?limit=5000');
    return metrics.filter((name) => !(name in data || name.replace(PARTS, '') in data));
  };
  // The first scrape may be 15 s away.
  await until('the first scrape', async () => (await missing()).length === 0, WITHIN_MS).catch(async () => {
    throw new Error(`no process exports ${(await missing()).join(', ')}`);
  });
  let filled = 0;
  for (const query of queries) {
    const { status, data } = await get(`/api/v1/query?query=${encodeURIComponent(query)}`);
    if (status !== 'success') throw new Error(`${query}: ${JSON.stringify(data)}`);
    if ((data as { result: unknown[] }).result.length > 0) filled += 1;
  }
  const { data } = await get('/api/v1/rules');
  const { groups } = data as { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
  for (const { name, health, lastError } of groups.flatMap(({ rules }) => rules))
    if (health === 'err') throw new Error(`rule ${name}: ${lastError}`);
  return `${queries.length} queries, ${filled} of them with data`;
}

/** @throws Error when Grafana has not loaded the dashboard or its data source. */
export async function grafanaShowsDashboard(grafana: string): Promise<void> {
  const found = async (path: string) => (await fetch(grafana + path).catch(() => null))?.status === 200;
  await until('the dashboard is provisioned', () => found('/api/dashboards/uid/pipeline'), WITHIN_MS);
  const query = '/api/datasources/proxy/uid/prometheus/api/v1/query?query=up';
  await until('the data source answers', () => found(query), WITHIN_MS);
}
