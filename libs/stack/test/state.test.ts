import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { processIdentity } from '@pipeline/local-postgres';
import { StartError } from '@pipeline/runtime';
import { takeDataFolder } from '../src/data/data-folder.ts';
import { loadState, saveState } from '../src/data/state.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pipeline-state-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const file = () => join(dataDir, 'stack.json');

describe('state', () => {
  test('loads what was saved, readable by its owner alone', async () => {
    const state = await loadState(dataDir);
    await saveState(dataDir, { ...state, repos: [{ slug: 'demo/shop', source: '/srv/shop' }] });
    expect(await loadState(dataDir)).toEqual({ ...state, repos: [{ slug: 'demo/shop', source: '/srv/shop' }] });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  test('every folder has secrets of its own', async () => {
    const [a, b] = [await loadState(dataDir), await loadState(dataDir)];
    expect(a.workerToken).toMatch(/^wrk_at_[\w-]{43}$/);
    expect(a.workerToken).not.toBe(b.workerToken);
    expect(a.monitor.password).not.toBe(b.monitor.password);
  });

  test.each([
    ['not JSON', '{', 'JSON'],
    ['of another shape', '{"tenant": 1}', 'tenant'],
  ])('the error for a file that is %s names the way out', async (_what, text, message) => {
    await writeFile(file(), text);
    const loading = loadState(dataDir);
    await expect(loading).rejects.toThrow('--fresh');
    await expect(loadState(dataDir)).rejects.toThrow(message);
    await expect(loadState(dataDir)).rejects.toBeInstanceOf(StartError);
  });
});

describe('data folder', () => {
  test('--fresh removes what a stack kept, and nothing else', async () => {
    for (const name of ['postgres', 'sandbox', 'photos']) await mkdir(join(dataDir, name));
    await writeFile(join(dataDir, 'sandbox/sandbox.db'), 'kept');
    await writeFile(file(), '{}');
    await writeFile(join(dataDir, 'notes.txt'), 'mine');
    const folder = await takeDataFolder(dataDir, true);
    await folder.release();
    expect((await readdir(dataDir)).sort()).toEqual(['logs', 'notes.txt', 'photos', 'sandbox', 'source', 'work']);
    expect(await readdir(join(dataDir, 'sandbox'))).toEqual([]);
  });

  const modeOf = async (path: string) => (await stat(join(dataDir, path))).mode & 0o777;

  test('the folder is private with all its parts, also when it existed with wider rights', async () => {
    await chmod(dataDir, 0o777);
    for (const name of ['sandbox', 'logs']) {
      await mkdir(join(dataDir, name));
      await chmod(join(dataDir, name), 0o755);
    }
    await writeFile(file(), '{}', { mode: 0o644 });
    const folder = await takeDataFolder(dataDir, false);
    expect(await modeOf('.')).toBe(0o700);
    for (const name of ['sandbox', 'source', 'work', 'logs']) expect(await modeOf(name)).toBe(0o700);
    expect(await modeOf('stack.json')).toBe(0o600);
    await folder.release();
  });

  test('keeps its rights when it holds other things, and its parts are private', async () => {
    await chmod(dataDir, 0o755);
    await writeFile(join(dataDir, 'notes.txt'), 'mine');
    const folder = await takeDataFolder(dataDir, false);
    expect(await modeOf('.')).toBe(0o755);
    expect(await modeOf('sandbox')).toBe(0o700);
    await folder.release();
  });

  test('one that another process uses is left alone', async () => {
    await writeFile(join(dataDir, 'owner'), `${await processIdentity(process.ppid)}\n`);
    await writeFile(file(), '{}');
    await expect(takeDataFolder(dataDir, true)).rejects.toThrow(`in use by process ${process.ppid}`);
    expect(await readdir(dataDir)).toContain('stack.json');
  });

  test('the error for a folder that cannot be created names its option', async () => {
    await writeFile(file(), '{}');
    await expect(takeDataFolder(join(file(), 'below'), false)).rejects.toThrow('--data-dir');
  });
});
