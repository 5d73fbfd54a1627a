/**
 * Tests the images of both services as their users do, in containers on a network of their own, with the history of two
 * repos, one of which is changed: by the image of the contract tests, and by the action of this repository from a
 * foreign one, which with --mutants must also report proxies that break the contract: the first and last of each kind,
 * or all. The images are those that `npm run e2e:containers` built. Without an engine: prints that, exit status 0.
 *
 *   npm run e2e:contract -- [--mutants some|all]
 */
import { parseArgs } from 'node:util';
import { getContainerRuntimeClient, ImageName } from 'testcontainers';
import { Checks, seconds } from '../../../libs/stack/e2e/checks.ts';
import { type ContainerDeployment, runContractImage, SCRATCH, startContainers } from './deployment.ts';
import { strangerChecks } from './stranger.ts';

const { values } = parseArgs({ options: { mutants: { type: 'string' } } });
const { mutants = 'none' } = values;
if (mutants !== 'none' && mutants !== 'some' && mutants !== 'all') throw new Error('--mutants: some or all');

const REAPER = new ImageName(undefined, 'testcontainers/ryuk', '0.14.0');

const began = performance.now();
const checks = new Checks();
const removals: (() => Promise<unknown>)[] = [];

if (await hasEngine()) {
  try {
    const deployment = await startContainers((remove) => removals.push(remove));
    checks.note(`containers started after ${seconds(performance.now() - began)}`);
    await imageOnNetwork(deployment);
    await strangerChecks(checks, deployment, mutants);
  } catch (error) {
    checks.that('it came to its end', false, (error as Error).stack ?? String(error));
  } finally {
    for (const remove of removals.reverse()) await remove();
  }
  checks.note(`took ${seconds(performance.now() - began)}`);
  process.exitCode = checks.failed === 0 ? 0 : 1;
}

/** The reaper is an image that cannot be had everywhere. Without it an interrupted run leaves its containers. */
async function hasEngine(): Promise<boolean> {
  try {
    const client = await getContainerRuntimeClient();
    if (!(await client.image.exists(REAPER))) process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
    return true;
  } catch (error) {
    checks.note(`skipped: no engine (${(error as Error).message})`);
    return false;
  }
}

async function imageOnNetwork(deployment: ContainerDeployment): Promise<void> {
  const { status, text, junit } = await runContractImage(deployment, [
    '--write',
    SCRATCH,
    '--runs',
    '300',
    '--seed',
    '1',
  ]);
  checks.that('the image of the contract tests finds nothing', status === 0, text.slice(-3_000));
  const failures = /failures="(\d+)"/.exec(junit)?.[1];
  checks.that('its JUnit report has no failure', failures === '0', junit.slice(0, 500));
  checks.note(/^checks: .*/m.exec(text)?.[0] ?? 'no summary');
}
