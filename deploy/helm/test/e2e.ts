/**
 * Runs the pods that the chart renders as containers: the migration, both services with their probes, the test of the
 * release, an upgrade beside the running services, and the end of each. It is not a cluster: nothing schedules the
 * pods, and Services, policies and the ingress are not there. Without an engine: prints that and ends with 0.
 *
 *   npm run e2e:chart -- [--tag TAG]       tag of the images; default e2e, which scripts/e2e-containers.ts builds
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { documentedBlock } from '../../../libs/testing/src/documents/documented-block.ts';
import { type Manifest, programFolder, render } from './helm.ts';
import { type Container, containerOf, podsOf } from './pods.ts';
import { dockerArguments } from './run-pod.ts';

const WITHIN_MS = 60_000;
const { tag } = parseArgs({ options: { tag: { type: 'string', default: 'e2e' } } }).values;
const folder = mkdtempSync(join(tmpdir(), 'chart-e2e-'));
const network = `chart-e2e-${process.pid}`;
const containers: string[] = [];

const engine = docker(['info']);
if (engine.status !== 0) {
  console.log(`skipped: no engine (${engine.stderr.trim().split('\n').at(-1)})`);
} else {
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  try {
    await everything();
  } catch (error) {
    for (const name of containers) console.error(`\n${name}:\n${docker(['logs', '--tail', '20', name]).stdout}`);
    console.error(`FAILED ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

async function everything(): Promise<void> {
  const objects = [...secrets(), ...render({ image: { tag } }, 'pipeline', 'pipeline')];
  must(['network', 'create', network]);
  // The address of the page.
  const environment = ['POSTGRES_USER=pipeline', 'POSTGRES_PASSWORD=its-password', 'POSTGRES_DB=pipeline'];
  start('db.example.org', [...environment.flatMap((one) => ['--env', one]), 'postgres:18-bookworm']);
  report('the migration ends with 0', () => runToEnd(objects, 'migrate'));
  for (const component of ['hosted-api', 'monitor']) {
    const port = containerOf(objects, component).ports?.[0]?.containerPort;
    start(`pipeline-${component}`, ['--publish', `127.0.0.1::${port}`, ...podArguments(objects, component)]);
    await reportAsync(`${component}: the probes succeed`, () => probes(`pipeline-${component}`, objects, component));
  }
  report('the test of the release ends with 0', () => runToEnd(objects, 'test'));
  await reportAsync('the operator logs in with the password of the Secret', () => login(objects));
  report('a second migration ends with 0 while the services run', () => runToEnd(objects, 'migrate'));
  report('the test of the release ends with 0', () => runToEnd(objects, 'test'));
  for (const component of ['hosted-api', 'monitor'])
    report(`${component}: ends with 0 after SIGTERM`, () => stop(objects, component));
}

/** The Secrets that the commands of the page create. */
function secrets(): Manifest[] {
  const programs = programFolder();
  const kubectl = programs === null ? 'command kubectl' : join(programs, 'kubectl');
  const script = `kubectl() { echo ---; ${kubectl} "$@" --dry-run=client --output yaml; }
    ${documentedBlock('docs/install-kubernetes.md', '   kubectl create namespace pipeline')}`;
  const { stdout } = spawnSync('bash', ['-euc', script], { encoding: 'utf8' });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

function podArguments(objects: readonly Manifest[], component: string): string[] {
  const pod = podsOf(objects).find((one) => one.component === component);
  if (pod === undefined) throw new Error(`no pod of ${component}`);
  return dockerArguments(pod, { objects, folder });
}

function runToEnd(objects: readonly Manifest[], component: string): void {
  must(['run', '--rm', `--network=${network}`, ...podArguments(objects, component)]);
}

/** Starts a container that the others reach under its name. */
function start(name: string, args: readonly string[]): void {
  const container = `${network}-${name}`;
  containers.push(container);
  must(['run', '--detach', `--name=${container}`, `--network=${network}`, `--network-alias=${name}`, ...args]);
}

async function probes(name: string, objects: readonly Manifest[], component: string): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe }: Container = containerOf(objects, component);
  for (const probe of [startupProbe, livenessProbe, readinessProbe])
    await answers(name, probe?.httpGet?.path ?? '', {});
}

/** Requests a path until it returns 200. */
async function answers(name: string, path: string, headers: Record<string, string>): Promise<void> {
  const [address] = must(['port', `${network}-${name}`])
    .split(' -> ')
    .slice(1);
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const url = `http://${address?.trim()}${path}`;
    const answer = await fetch(url, { headers: { connection: 'close', ...headers } }).catch(String);
    if (answer instanceof Response && answer.status === 200) return;
    if (Date.now() > deadline) throw new Error(`${url}: ${answer instanceof Response ? answer.status : answer}`);
    spawnSync('sleep', ['0.2']);
  }
}

async function login(objects: readonly Manifest[]): Promise<void> {
  const secret = objects.find(({ metadata }) => metadata.name === 'pipeline-monitor')?.data?.['monitor-password'] ?? '';
  const password = Buffer.from(secret, 'base64').toString();
  const authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
  await answers('pipeline-monitor', '/api/config-summary', { authorization });
}

/** Within what remains of the grace period after preStop. */
function stop(objects: readonly Manifest[], component: string): void {
  const pod = podsOf(objects).find((one) => one.component === component);
  const preStop = pod?.spec.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
  const seconds = (pod?.spec.terminationGracePeriodSeconds ?? 0) - preStop;
  const name = `${network}-pipeline-${component}`;
  must(['stop', `--time=${seconds}`, name]);
  const status = must(['inspect', '--format', '{{.State.ExitCode}}', name]).trim();
  if (status !== '0') throw new Error(`exit status ${status}`);
}

function remove(): void {
  for (const name of containers) docker(['rm', '--force', '--volumes', name]);
  docker(['network', 'rm', network]);
  rmSync(folder, { recursive: true, force: true });
}

function docker(args: readonly string[]) {
  return spawnSync('docker', [...args], { encoding: 'utf8', timeout: WITHIN_MS, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** @returns what the command printed. @throws Error with its complaint. */
function must(args: readonly string[]): string {
  const { status, stdout, stderr, error } = docker(args);
  if (status !== 0) throw new Error(`docker ${args[0]}: ${status} ${error?.message ?? ''}${stderr}${stdout}`);
  return stdout;
}

function report(what: string, run: () => unknown): void {
  const began = Date.now();
  run();
  console.log(`ok ${((Date.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
}

async function reportAsync(what: string, run: () => Promise<void>): Promise<void> {
  const began = Date.now();
  await run();
  report(`${what} (${((Date.now() - began) / 1_000).toFixed(1)} s)`, () => undefined);
}
