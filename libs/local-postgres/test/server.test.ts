import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type PostgresServer, postgresAccount, removeAbandoned, startPostgres } from '../src/server.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pipeline-stack-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const start = (port = 0) => startPostgres({ dataDir, port, settings: { fsync: 'off' } });

async function query(server: Pick<PostgresServer, 'url'>, text: string): Promise<unknown[]> {
  const client = new pg.Client(server.url);
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

const postmaster = async () => Number((await readFile(join(dataDir, 'cluster/postmaster.pid'), 'utf8')).split('\n')[0]);

/** Another process that starts the server in the same folder and prints where it is. */
async function startElsewhere(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/start-postgres.ts'), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, url: String(line).trim() };
}

test('data survives a stop, and a second stop does nothing', async () => {
  const first = await start();
  expect(await query(first, 'create table kept (n int)')).toEqual([]);
  await first.stop();
  await first.stop();
  const second = await start();
  expect(await query(second, 'select * from kept')).toEqual([]);
  await second.stop();
});

test('open sessions do not hold up the stop', async () => {
  const server = await start();
  const client = new pg.Client(server.url);
  client.on('error', () => {});
  await client.connect();
  const asleep = client.query('select pg_sleep(60)').catch((error: Error) => error.message);
  await server.stop();
  expect(await asleep).toMatch(/terminat/);
});

test('a server that was killed is started again, its stale pid file notwithstanding', async () => {
  const server = await start();
  const pid = await postmaster();
  process.kill(pid, 'SIGKILL');
  const again = await start();
  expect(await postmaster()).not.toBe(pid);
  expect(await query(again, 'select 1 as one')).toEqual([{ one: 1 }]);
  await again.stop();
  await server.stop();
});

test('a pid file that names a living stranger neither stops the start nor the stranger', async () => {
  await (await start()).stop();
  // Of the same user as the server, so that a signal would reach it.
  const { ids } = await postgresAccount([dataDir]);
  const stranger = spawn('sleep', ['60'], ids);
  await once(stranger, 'spawn');
  await writeFile(join(dataDir, 'cluster/postmaster.pid'), `${stranger.pid}\n/elsewhere\n0\n1\n\n127.0.0.1\n`);
  const server = await start();
  expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  stranger.kill();
});

test('the server of a killed owner is taken over; that of a living one is left alone', async () => {
  const { child } = await startElsewhere();
  await expect(start()).rejects.toThrow(`is in use by process ${child.pid}`);
  const orphan = await postmaster();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = await start();
  expect(await postmaster()).not.toBe(orphan);
  await server.stop();
});

test('a cluster that was never finished is made again', async () => {
  const other = await mkdtemp(join(tmpdir(), 'pipeline-half-'));
  await mkdir(join(other, 'cluster.new'));
  await writeFile(join(other, 'cluster.new/PG_VERSION'), '18');
  const server = await startPostgres({ dataDir: other, port: 0 });
  expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
  await rm(other, { recursive: true });
});

test('a taken port is reported as such, and the folder is free again', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  taken.close();
  const server = await start(port);
  expect(server.port).toBe(port);
  await server.stop();
});

test('a setting that Postgres refuses ends the start with its own words', async () => {
  await expect(startPostgres({ dataDir, port: 0, settings: { work_mem: 'much' } })).rejects.toThrow(
    'invalid value for parameter "work_mem"',
  );
});

test('deletes data of a killed owner with its server, and leaves data in use or without an owner alone', async () => {
  const { child, url } = await startElsewhere();
  const connect = () => new pg.Client(url).connect();
  await removeAbandoned(dataDir);
  await query({ url }, 'select 1');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await removeAbandoned(dataDir);
  await expect(connect()).rejects.toThrow('ECONNREFUSED');
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  await mkdir(dataDir);
  await removeAbandoned(dataDir);
  expect(await readdir(dataDir)).toEqual([]);
});

/** Root without the capability to enter folders, as in most containers. */
const canDropCapability =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--bounding-set=-dac_read_search', '--', 'true']).status === 0;

const withoutCapability = (folder: string) => {
  const main = join(import.meta.dirname, '../src/main.ts');
  const args = [
    '--bounding-set=-dac_read_search',
    '--',
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    main,
  ];
  const env = { ...process.env, POSTGRES_DIR: folder, POSTGRES_PORT: '0' };
  return spawn('setpriv', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
};
const asRoot = canDropCapability ? test : test.skip;

asRoot('names the folder that the user of Postgres may not enter', async () => {
  const closed = await mkdtemp(join(tmpdir(), 'pipeline-closed-'));
  await mkdir(join(closed, 'parent'));
  const child = withoutCapability(join(closed, 'parent/data'));
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  await rm(closed, { recursive: true });
  expect(stderr).toContain(`who may not enter ${closed}`);
  expect(stderr).toContain('--database-url');
  expect(code).toBe(1);
});

asRoot('starts without that capability when every folder lets the user through', async () => {
  const open = await mkdtemp(join(tmpdir(), 'pipeline-open-'));
  await chmod(open, 0o755);
  const child = withoutCapability(join(open, 'data'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  expect(await query(JSON.parse(String(line)), 'select 1 as one')).toEqual([{ one: 1 }]);
  child.kill();
  await once(child, 'exit');
  await rm(open, { recursive: true });
});
