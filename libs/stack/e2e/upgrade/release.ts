/** Versions of the product that run as processes, each from a folder with its sources. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../src/children/context.ts';
import { type Service, startService } from '../../test/replicas/service.ts';

/**
 * The version before an upgrade as long as the repository has no tag of a release: the last commit of main before the
 * deltas, rollups and the event stream were given keys by tenant (migrations 0050 and 0051).
 */
const UNTAGGED = {
  commit: '1fd7a4a7b613bd12dd8465744b1869c592ab9576',
  skip: ['streamEvents=these contract tests compare the oldest events of a buffer, which traffic pushes out'],
};
const EXIT_FINDINGS = 1;
const OUTPUT_BYTES = 64 * 1024 * 1024;

const run = promisify(execFile);

const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: ROOT })).stdout.trim();

/** A repo of the history, which the contract tests may change, and the organisation that owns it. */
export interface History {
  org: string;
  /** Slugs. */
  repos: string[];
}

export interface ContractRun {
  isGreen: boolean;
  output: string;
}

interface ReleaseOptions {
  name: string;
  /** Folder of the sources. */
  root: string;
  /** Environment of the commands, beside what each is given. */
  inherited: NodeJS.ProcessEnv;
  /** Endpoints that its contract tests leave out, ENDPOINT=REASON. */
  skip?: readonly string[];
}

/** One version and its commands. */
export class Release {
  readonly name: string;
  readonly #root: string;
  readonly #inherited: NodeJS.ProcessEnv;
  readonly #skip: readonly string[];

  constructor({ name, root, inherited, skip = [] }: ReleaseOptions) {
    this.name = name;
    this.#root = root;
    this.#inherited = inherited;
    this.#skip = skip;
  }

  /** @returns names of the migrations that were applied. */
  async migrate(databaseUrl: string): Promise<string[]> {
    const line = await this.#node(['libs/store/src/schema/migrate-main.ts'], { DATABASE_URL: databaseUrl });
    return (JSON.parse(line) as { applied?: string[] }).applied ?? [];
  }

  start(name: 'hosted-api' | 'monitor', env: Record<string, string>): Promise<Service> {
    return startService(name, env, this.#root);
  }

  /** Runs `pipeline admin`. @returns its JSON. */
  async admin(databaseUrl: string, ...args: string[]): Promise<Record<string, string>> {
    const command = ['libs/cli/src/main.ts', 'admin', ...args, '--json'];
    return JSON.parse(await this.#node(command, { DATABASE_URL: databaseUrl })) as Record<string, string>;
  }

  /** Fills an empty database of this version with the past of an organisation. */
  async insertHistory(databaseUrl: string): Promise<History> {
    const script = `import { openStore } from '@pipeline/store';
      import { simulateHistory } from '@pipeline/testing/history';
      const databaseUrl = process.env.DATABASE_URL;
      const store = openStore({ databaseUrl, applicationName: 'history', poolSize: 2, onConnectionError: () => {} });
      const size = { tenants: 1, repos: 2, days: 3, issues: 60, seed: 1 };
      const { tenants } = await simulateHistory(store.db, { ...size, end: new Date() });
      await store.close();
      process.stdout.write(JSON.stringify({ org: tenants[0].externalId }));`;
    const args = ['--input-type=module', '--eval', script];
    const { org } = JSON.parse(await this.#node(args, { DATABASE_URL: databaseUrl }, 'libs/stack')) as { org: string };
    return { org, repos: ['acme/repo-1', 'acme/repo-2'] };
  }

  /** Runs the contract tests of this version, which know its contract. */
  async contract(args: readonly string[], env: Record<string, string>): Promise<ContractRun> {
    const skip = this.#skip.flatMap((text) => ['--skip', text]);
    try {
      const output = await this.#node(['libs/contract-tests/src/main.ts', ...args, ...skip], env);
      return { isGreen: true, output };
    } catch (error) {
      const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
      return { isGreen: false, output: code === EXIT_FINDINGS ? stdout : `exit status ${code}: ${stderr}${stdout}` };
    }
  }

  async #node(args: readonly string[], env: Record<string, string>, folder = '.'): Promise<string> {
    const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      cwd: join(this.#root, folder),
      env: { ...this.#inherited, ...env },
      maxBuffer: OUTPUT_BYTES,
    });
    return stdout;
  }
}

/** The working tree. */
export const current = (inherited: NodeJS.ProcessEnv): Release =>
  new Release({ name: 'this version', root: ROOT, inherited });

/**
 * The commit before an upgrade: that of the last release before this one, by its tag, or without tags a fixed one.
 * @returns null when the clone does not have it because it is shallow. @throws Error for a given one that is unknown.
 */
export async function commitBefore(given: string | null): Promise<EarlierCommit | null> {
  const tagged = () =>
    git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^').catch(() => UNTAGGED.commit);
  const name = given ?? (await tagged());
  try {
    const commit = await git('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
    const skip = commit === UNTAGGED.commit ? UNTAGGED.skip : [];
    return { commit, name: name.startsWith('v') ? name : commit.slice(0, 8), skip };
  } catch (error) {
    const isShallow = (await git('rev-parse', '--is-shallow-repository')) === 'true';
    if (given === null && isShallow) return null;
    throw new Error(`${name} is no commit of this repository`, { cause: error });
  }
}

interface EarlierCommit {
  commit: string;
  name: string;
  skip: readonly string[];
}

interface Installation extends EarlierCommit {
  folder: string;
}

/** Puts the files of a commit into a folder and installs its dependencies. */
export async function installRelease(
  { commit, name, skip, folder }: Installation,
  inherited: NodeJS.ProcessEnv,
): Promise<Release> {
  await mkdir(folder, { recursive: true });
  const script = 'git archive "$1" | tar -x -C "$2"';
  await run('bash', ['-euo', 'pipefail', '-c', script, 'bash', commit, folder], { cwd: ROOT });
  await run(process.execPath, ['scripts/bootstrap.mjs', 'install'], { cwd: folder, maxBuffer: OUTPUT_BYTES });
  return new Release({ name, root: folder, inherited, skip });
}
