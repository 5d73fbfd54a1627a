import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { StartError } from '@pipeline/runtime';
import { takeDataFolder } from '../src/data-folder.ts';
import { processIdentity } from '../src/data-owner.ts';
import { loadState, saveState } from '../src/state.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pipeline-state-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const file = () => join(dataDir, 'stack.json');

describe('state', () => {
  test('what was saved is what is loaded, readable by its owner alone', async () => {
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
  ])('a file that is %s is told, with the way out', async (_what, text, told) => {
    await writeFile(file(), text);
    const loading = loadState(dataDir);
    await expect(loading).rejects.toThrow('--fresh');
    await expect(loadState(dataDir)).rejects.toThrow(told);
    await expect(loadState(dataDir)).rejects.toBeInstanceOf(StartError);
  });
});

describe('data folder', () => {
  test('--fresh removes what a stack kept, and nothing else', async () => {
    for (const name of ['postgres', 'sandbox', 'photos']) await mkdir(join(dataDir, name));
    await writeFile(file(), '{}');
    await writeFile(join(dataDir, 'notes.txt'), 'mine');
    const folder = await takeDataFolder(dataDir, true);
    await folder.release();
    expect((await readdir(dataDir)).sort()).toEqual(['notes.txt', 'photos']);
  });

  test('one that another process uses is left alone', async () => {
    await writeFile(join(dataDir, 'owner'), `${await processIdentity(process.ppid)}\n`);
    await writeFile(file(), '{}');
    await expect(takeDataFolder(dataDir, true)).rejects.toThrow(`in use by process ${process.ppid}`);
    expect(await readdir(dataDir)).toContain('stack.json');
  });

  test('one that cannot be made is told with its option', async () => {
    await writeFile(file(), '{}');
    await expect(takeDataFolder(join(file(), 'below'), false)).rejects.toThrow('--data-dir');
  });
});
