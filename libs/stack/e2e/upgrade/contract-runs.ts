import { once } from 'node:events';
import { SECRET } from '../../test/replicas/host.ts';
import { type Checks, seconds } from '../checks.ts';
import type { History, Release } from './release.ts';
import { OPERATOR, type Replica } from './rollout.ts';

/** Generated requests of each run. */
const RUNS = '100';

export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
}

/** Credentials of the contract tests. */
export interface ContractAccess {
  client: ClientCredentials;
  workerToken: string;
}

/** Creates credentials for an organisation, with the commands that the documents name for operators. */
export async function createAccess(release: Release, databaseUrl: string, { org }: History): Promise<ContractAccess> {
  const email = 'contract-tests@pipeline.invalid';
  const admin = (...args: string[]) => release.admin(databaseUrl, ...args);
  await admin('user', 'create', email, '--no-password');
  await admin('member', 'add', org, email, '--role', 'admin');
  const create = ['connections', 'create', 'contract-tests', '--org', org, '--user', email, '--expires', '1d'];
  const { clientId = '', clientSecret = '' } = await admin(...create);
  return { client: { clientId, clientSecret }, workerToken: await createWorkerToken(release, databaseUrl, org) };
}

export async function createWorkerToken(release: Release, databaseUrl: string, org: string): Promise<string> {
  const { token = '' } = await release.admin(databaseUrl, 'worker-token', 'create', 'e2e', '--org', org);
  return token;
}

interface Target {
  /** Tested by the contract tests of its own version. */
  replica: Replica;
  access: ContractAccess;
  /** Repo that the runs change. */
  scratch: string;
}

/** Runs the contract tests of a version against a replica of it, again and again until they are to end. */
export class ContractRuns {
  readonly #checks: Checks;
  readonly #target: Target;
  readonly #events = new EventTarget();
  readonly #running: Promise<void>;
  #isEnding = false;

  constructor(checks: Checks, target: Target) {
    this.#checks = checks;
    this.#target = target;
    this.#running = this.#keepTesting();
  }

  /** Waits for the end of a run that has begun before this call. */
  async untilRunEnds(): Promise<void> {
    await once(this.#events, 'end');
  }

  /** Waits for the run that is on its way. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }

  async #keepTesting(): Promise<void> {
    do await this.#test();
    while (!this.#isEnding);
  }

  async #test(): Promise<void> {
    const { replica, access, scratch } = this.#target;
    const began = performance.now();
    const urls = { hosted: replica.services['hosted-api'].url, monitor: replica.services.monitor.url };
    const targets = ['--hosted', urls.hosted, '--monitor', urls.monitor, '--user', OPERATOR.username];
    const { isGreen, output } = await replica.release.contract(
      [...targets, '--client-id', access.client.clientId, '--write', scratch, '--runs', RUNS, '--seed', '1'],
      {
        PIPELINE_CLIENT_SECRET: access.client.clientSecret,
        PIPELINE_WORKER_TOKEN: access.workerToken,
        PIPELINE_WEBHOOK_SECRET: SECRET,
        MONITOR_PASSWORD: OPERATOR.password,
      },
    );
    const summary = /^checks: .*/m.exec(output)?.[0] ?? '';
    const took = seconds(performance.now() - began);
    this.#checks.that(`${replica.release.name} keeps its contract: ${summary}, ${took}`, isGreen, failuresIn(output));
    this.#events.dispatchEvent(new Event('end'));
  }
}

/** The failures of a report with their details, or the end of anything else that was printed. */
function failuresIn(output: string): string {
  const failures = output.match(/^FAILED .*(?:\n {2}.*)*/gm);
  return failures?.join('\n') ?? output.slice(-1_000);
}
