/**
 * Runs the files of deploy/compose for real, as a project of its own on free ports, and removes it again: first the
 * demo with observability, then the same deployment with scale added, while its replicas are killed. Images that cannot
 * be pulled are replaced by stand-ins from Debian's packages; Grafana has none and is then left out. One line per
 * check; exit code 1 at the first that fails, with the logs. Without an engine: prints that and ends with 0.
 *
 *   node scripts/e2e-compose-files.ts
 */
import { readFileSync } from 'node:fs';
import { type Compose, composeProject, docker, must, runWithEngine } from './containers/docker.ts';
import { clientsWhileReplicasDie, monitorReader } from './containers/killed-replicas.ts';
import { grafanaShowsDashboard, queriesOf, queryAll } from './containers/observability.ts';
import { check, expectEqual, expectPart, until } from './containers/report.ts';
import { isAvailable, standIns } from './containers/stand-ins.ts';
import { freePort } from './free-port.ts';

const REPO = 'demo/sample';
const ISSUES = 2;
const DONE_WITHIN_MS = 300_000;
type File = 'demo' | 'observability' | 'scale';

const ports = {
  HOSTED_PORT: await freePort(),
  MONITOR_PORT: await freePort(),
  SANDBOX_PORT: await freePort(),
  PROMETHEUS_PORT: await freePort(),
  GRAFANA_PORT: await freePort(),
};
const at = (port: number) => `http://127.0.0.1:${port}`;
const project = `pipeline-files-${process.pid}`;
let settings: Record<string, string> = {
  ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
  PIPELINE_TAG: 'e2e',
  DEMO_ISSUES: String(ISSUES),
};
let hasGrafana = false;

await runWithEngine({
  everything,
  remove: () => void everyFile()(['--profile', 'contract', 'down', '--volumes', '--remove-orphans', '--timeout', '5']),
  logs: () => everyFile()(['logs', '--no-color', '--tail', '20']).out,
});

function withFiles(...names: File[]): Compose {
  const files = names.map((name) => `deploy/compose/${name}.yaml`);
  return composeProject(project, settings, files);
}

function everyFile(): Compose {
  return withFiles('demo', 'observability', 'scale');
}

async function everything(): Promise<void> {
  await check('images are pulled, or have stand-ins', findImages);
  await check('images build', () => must(everyFile()(['--profile', 'contract', 'build', '--quiet'])));
  const small = withFiles('demo', 'observability');
  await check('the demo with observability starts', () => up(small));
  const monitor = monitorClient(small);
  await check(`${ISSUES} issues of the demo are done`, () => demoIsDone(monitor));
  await check('agents reach the hosted API, and no metrics', () =>
    agentsSee('hosted-api', { 8080: true, 9464: false }),
  );
  await check('every query of the dashboard is answered', dashboardIsAnswered);
  if (hasGrafana) await check('Grafana shows the dashboard', () => grafanaShowsDashboard(at(ports.GRAFANA_PORT)));

  const large = everyFile();
  await check('two of each service, a pooler and a replica take over', () => up(large));
  await check('agents reach the proxy of the hosted API, and nothing else', agentsBehindProxy);
  await check('Prometheus scrapes all four replicas', () => until('four targets', fourTargets, 60_000));
  await check('the contract tests find nothing through the proxies', () => contractTests(large));
  const clients = { hosted: hostedCredentials(large), monitor };
  await check('no request is lost while replicas are killed', () => clientsWhileReplicasDie(large, clients, REPO));
  await check('statements went through the pooler, and reads to the replica', () => sessions(large));
  await check('every query of the dashboard is answered, each issue counted once', async () => {
    await until(`${ISSUES} issues`, async () => (await issuesInPrometheus()) === ISSUES, 60_000);
    return dashboardIsAnswered();
  });
  await check('everything is removed', () =>
    must(large(['--profile', 'contract', 'down', '--volumes', '--timeout', '5'])),
  );
}

function findImages(): string {
  const { services } = JSON.parse(must(everyFile()(['config', '--format', 'json']))) as {
    services: Record<string, { image: string; build?: { args: Record<string, string> } }>;
  };
  const imageOf = (name: string) => services[name]?.image ?? '';
  const replaced = standIns({
    DEBIAN_IMAGE: services.pgbouncer?.build?.args.DEBIAN_IMAGE ?? '',
    HAPROXY_IMAGE: imageOf('monitor-proxy'),
    PROMETHEUS_IMAGE: imageOf('prometheus'),
    POSTGRES_IMAGE: imageOf('postgres-replica'),
  });
  settings = { ...settings, ...replaced };
  hasGrafana = isAvailable(imageOf('grafana'));
  return Object.values(replaced).join(', ');
}

/** Without Grafana where there is no image: compose then gets the names of all other services. */
function up(compose: Compose): void {
  const services = must(compose(['config', '--services']))
    .trim()
    .split('\n');
  const started = hasGrafana ? services : services.filter((name) => name !== 'grafana');
  must(compose(['up', '--detach', '--wait', ...started]));
}

function monitorClient(compose: Compose) {
  const password = must(compose(['exec', '-T', 'monitor', 'cat', '/run/secrets/operator/password']));
  return monitorReader(at(ports.MONITOR_PORT), password);
}

/** Returns the credentials that the contract tests have made. */
function hostedCredentials(compose: Compose) {
  const run = ['run', '--rm', '-T', '--no-deps', '--entrypoint', 'cat', 'contract-tests'];
  const read = (name: string) => must(compose([...run, `/run/secrets/contract-tests/${name}`]));
  const url = at(ports.HOSTED_PORT);
  return { url, clientId: read('client-id'), clientSecret: read('client-secret') };
}

async function demoIsDone(monitor: ReturnType<typeof monitorReader>): Promise<void> {
  await until(
    `${ISSUES} issues in state done`,
    async () => {
      const { items } = await monitor.searchIssues({ query: { state: 'done' } });
      return items.length >= ISSUES;
    },
    DONE_WITHIN_MS,
  );
}

/**
 * Checks which ports of a host accept connections from the network of agents, within 3 s: unknown names take longer.
 */
function agentsSee(host: string, wanted: Record<number, boolean>): void {
  const program = `const { connect } = require('node:net');
    const opens = (port) => new Promise((resolve) => {
      const socket = connect({ host: '${host}', port });
      socket.on('connect', () => { socket.destroy(); resolve(true); });
      socket.on('error', () => resolve(false));
      setTimeout(() => resolve(false), 3000);
    });
    Promise.all([${Object.keys(wanted)}].map(async (port) => [port, await opens(port)]))
      .then((found) => process.stdout.write(JSON.stringify(Object.fromEntries(found)), () => process.exit()));`;
  const run = ['run', '--rm', '--network', `${project}_agents`, 'pipeline-demo:e2e', 'node', '-e', program];
  expectEqual(host, JSON.parse(must(docker(run))), wanted);
}

function agentsBehindProxy(): void {
  agentsSee('hosted-api', { 8080: true, 8090: false, 9464: false });
  for (const host of ['hosted-api-replicas', 'monitor', 'monitor-proxy', 'prometheus', 'postgres'])
    agentsSee(host, { 8080: false, 8090: false, 9090: false, 9464: false, 5432: false });
}

function dashboardIsAnswered(): Promise<string> {
  return queryAll(at(ports.PROMETHEUS_PORT), queriesOf(readFileSync('deploy/grafana/pipeline.json', 'utf8')));
}

async function queried(query: string): Promise<{ value: [number, string] }[]> {
  const response = await fetch(`${at(ports.PROMETHEUS_PORT)}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
  return data.result;
}

async function fourTargets(): Promise<boolean> {
  return (await queried('up == 1')).length === 4;
}

/** Every monitor exports the same figures. */
async function issuesInPrometheus(): Promise<number> {
  const [all] = await queried('sum(max without (instance) (svc_pipeline_issues))');
  return Number(all?.value[1]);
}

function contractTests(compose: Compose): string {
  const { status, out, err } = compose(['run', '--rm', '-T', 'contract-tests', '--runs', '300', '--seed', '1']);
  if (status !== 0) throw new Error(`exit status ${status}: ${out}${err}`);
  return out.trim().split('\n').at(-1) ?? '';
}

function sessions(compose: Compose): string {
  const query = (service: string, sql: string) =>
    must(compose(['exec', '-T', service, 'psql', '-U', 'pipeline', '-d', 'pipeline', '-At', '-c', sql])).trim();
  expectEqual('the replica is one', query('postgres-replica', 'select pg_is_in_recovery()'), 't');
  const names = `select string_agg(distinct application_name, ' ') from pg_stat_activity where usename`;
  const reads = query('postgres-replica', `${names} = 'pipeline_hosted_api'`);
  expectPart(reads, 'hosted-api:reads');
  const pooler = must(compose(['ps', '--quiet', 'pgbouncer'])).trim();
  const addresses = must(
    docker(['inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}', pooler]),
  );
  const past = query(
    'postgres',
    `${names} ~ 'pipeline_(monitor|hosted_api)' and application_name ~ ':(tenant|fleet|read)$'
      and client_addr <> all ('{${addresses.trim().replaceAll(' ', ',')}}'::inet[])`,
  );
  expectEqual('sessions past the pooler', past, '');
  return reads;
}
