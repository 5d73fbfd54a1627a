/** The action of this repository, used by the CI of another one that has nothing but its workflow and two addresses. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostedSurface, monitorSurface } from '@pipeline/contract';
import { CHECK_SUITES } from '@pipeline/contract-tests';
import { documentedBlock } from '@pipeline/testing/documented-block';
import { parse } from 'yaml';
import type { Checks } from '../../../libs/stack/e2e/checks.ts';
import { type MutantCredentials, mutantKinds } from '../../../libs/stack/test/contract/mutants.ts';
import { type Mutant, MutatingProxy } from '../../../libs/stack/test/contract/mutating-proxy.ts';
import { type ActionResult, ActionRunner, type ActionStep, expand } from './action.ts';
import { type ContainerDeployment, SCRATCH } from './deployment.ts';

/** An endless stream does not pass the proxy. */
const SUITES = CHECK_SUITES.filter((suite) => suite !== 'stream').join(' ');
const DOCUMENTED = { hosted: 'https://pipeline.example.org', monitor: 'https://monitor.example.org' };
/**
 * Number of mutants of each kind. A run by the action takes seconds;
 * `libs/stack/test/contract/contract.nightly.test.ts` has all of them in one process.
 */
const SAMPLE = 2;

type Urls = ContainerDeployment['urls'];

/**
 * The action must be green on the containers and red on each mutant, with the broken endpoint in its report, or with the
 * credential that it could not get.
 * @param mutants `some`: the first and last ones of each kind.
 */
export async function strangerChecks(
  checks: Checks,
  deployment: ContainerDeployment,
  mutants: 'none' | 'some' | 'all',
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'));
  try {
    const runner = new ActionRunner(folder);
    await onContainers(checks, runner, deployment);
    if (mutants !== 'none') await onMutants(checks, { runner, deployment, all: mutants === 'all' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The step of docs/contract-tests.md with other addresses, and with the variables and secrets of the repository. */
function documentedStep({ operator, ...credentials }: ContainerDeployment['credentials'], urls: Urls): ActionStep {
  const contexts = {
    vars: { PIPELINE_CLIENT_ID: credentials.clientId },
    secrets: { PIPELINE_CLIENT_SECRET: credentials.clientSecret, MONITOR_PASSWORD: operator.password },
  };
  const [step] = parse(documentedBlock('docs/contract-tests.md', '- uses: ')) as [ActionStep];
  const given = Object.entries(step.with).map(([name, value]) => [name, expand(value, contexts)]);
  const { hosted, monitor, ...others } = Object.fromEntries(given) as Record<string, string>;
  if (hosted !== DOCUMENTED.hosted || monitor !== DOCUMENTED.monitor) throw new Error('the document names no target');
  return { ...step, with: { ...others, ...urls } };
}

async function onContainers(
  checks: Checks,
  runner: ActionRunner,
  { credentials, urls }: ContainerDeployment,
): Promise<void> {
  const { uses, with: inputs } = documentedStep(credentials, urls);
  const runs = { arguments: '--runs 300 --seed 1' };
  const bare = await runner.run({ uses, with: { ...urls, ...runs } });
  checks.that('the action is green on the containers, with two addresses alone', bare.status === 0, end(bare));
  const whole = await runner.run({ uses, with: { ...inputs, ...runs } });
  checks.that('the documented step is green on the containers', whole.status === 0, end(whole));
  checks.that('it writes JUnit without failures', /<testsuite /.test(whole.junit) && failed(whole).length === 0);
  checks.that('the summary of the job reports it', whole.summary.startsWith('## ✅ Contract tests'), whole.summary);
  checks.note(/^checks: .*/m.exec(whole.output)?.[0] ?? 'no summary');
}

interface Scene {
  runner: ActionRunner;
  deployment: ContainerDeployment;
  all: boolean;
}

async function onMutants(checks: Checks, { runner, deployment, all }: Scene): Promise<void> {
  const { urls, credentials } = deployment;
  const proxies = [
    new MutatingProxy(hostedSurface, () => urls.hosted),
    new MutatingProxy(monitorSurface, () => urls.monitor),
  ] as const;
  await Promise.all(proxies.map((proxy) => proxy.listen()));
  const [hosted, monitor] = proxies.map(({ url }) => url) as [string, string];
  const step = documentedStep(credentials, { hosted, monitor });
  const logins = { 'login-email': credentials.login.email, 'login-password': credentials.login.password };
  const inputs = { ...step.with, ...logins, 'worker-token': credentials.workerToken };
  const problems: string[] = [];
  const mutants = Object.values(mutantKinds(await acceptedCredentials(deployment))).flatMap((kind) =>
    all ? kind : kind.filter((_mutant, at) => at === 0 || at > kind.length - SAMPLE),
  );
  try {
    for (const mutant of mutants) {
      for (const proxy of proxies) proxy.mutant = mutant;
      const result = await runner.run({ ...step, with: { ...inputs, arguments: argumentsFor(mutant) } });
      const problem = problemOf(mutant, result);
      if (problem !== null) problems.push(`${mutant.name}: ${problem}`);
    }
  } finally {
    for (const proxy of proxies) proxy.close();
  }
  checks.none(`the action is red on each of ${mutants.length} broken targets and names what is broken`, problems);
}

/** The endpoints of the mutant, as a stranger whose time is limited chooses them. */
function argumentsFor({ endpoints }: Mutant): string {
  // Addresses of no endpoint have no name on the command line.
  const only = endpoints.includes('unknown') ? '' : ` --only ${endpoints.join(' ')}`;
  return `--timeout 2000 --longest-retry 0 --write ${SCRATCH} --suite ${SUITES}${only}`;
}

/** Exit status of a run whose target gives no usable credential: it ends before the first check. */
const NO_CREDENTIAL = 78;

/** @returns null when the action reports the mutant. */
function problemOf({ endpoints }: Mutant, result: ActionResult): string | null {
  const isToken = endpoints.includes('token');
  if (isToken && result.status === NO_CREDENTIAL && /issues no token|"access token": 401/.test(result.output))
    return null;
  if (result.status !== 1) return end(result);
  const named = failed(result);
  const isNamed = endpoints.some((endpoint) => named.includes(endpoint));
  if (!isNamed) return `the JUnit file names ${named.join(', ') || 'nothing'}`;
  return /^## ❌/.test(result.summary) ? null : 'the summary of the job is not red';
}

/** Endpoints with a failure in the JUnit file. */
function failed({ junit }: ActionResult): string[] {
  const cases = [...junit.matchAll(/<testcase classname="\w+\.\w+\.(\w+)"[^>]*>\s*<failure/g)];
  return cases.map(([, endpoint]) => endpoint ?? '');
}

/** Returns credentials that are valid, for proxies that let every caller in. */
async function acceptedCredentials({ urls, credentials }: ContainerDeployment): Promise<MutantCredentials> {
  const { clientId, clientSecret, operator, workerToken, login } = credentials;
  const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const response = await fetch(`${urls.hosted}/oauth/token`, {
    method: 'POST',
    headers: { authorization: basic(clientId, clientSecret) },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no access token: ${response.status}`);
  return {
    basic: basic(operator.username, operator.password),
    bearer: `Bearer ${token}`,
    worker: `Bearer ${workerToken}`,
    password: login.password,
  };
}

function end({ status, output }: ActionResult): string {
  return `exit status ${status}: ${output.slice(-3_000)}`;
}
