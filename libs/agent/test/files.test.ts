import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { FinishedProgram } from '@pipeline/worker';
import type { Box } from '../src/sandbox/sandbox.ts';
import { WorkTreeFiles } from '../src/session/files.ts';

const root = mkdtempSync(join(tmpdir(), 'files-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A box whose programs run until they are ended here. */
function heldBox() {
  const running: (() => void)[] = [];
  const done: FinishedProgram = { exitCode: 0, signal: null, stdout: Buffer.from('text'), stderr: '' };
  const run = () => new Promise<FinishedProgram>((resolve) => running.push(() => resolve(done)));
  return { running, box: { run } as unknown as Box };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the file requests of an agent', () => {
  test('requests run 16 programs at a time, and all are answered, when 200 come at once', async () => {
    const { running, box } = heldBox();
    const files = new WorkTreeFiles(root, box);
    const all = Promise.all(Array.from({ length: 200 }, () => files.read('a.txt')));
    let most = 0;
    for (let ended = 0; ended < 200; ended += 1) {
      await turn();
      most = Math.max(most, running.length);
      running.shift()?.();
    }
    expect(new Set(await all)).toEqual(new Set(['text']));
    expect(most).toBe(16);
  });

  test('requests are refused when more than 1000 wait', async () => {
    const { box } = heldBox();
    const files = new WorkTreeFiles(root, box);
    for (let waiting = 0; waiting < 1_016; waiting += 1) void files.read('a.txt');
    await expect(files.read('a.txt')).rejects.toThrow('a.txt cannot be used: more than 1000 requests wait');
  });
});
