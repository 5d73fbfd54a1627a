import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { TaskPayload } from '@pipeline/domain';
import { WorkerBench } from './worker-bench.ts';

let bench: WorkerBench;
beforeEach(async () => {
  bench = await WorkerBench.open();
});
afterEach(() => bench.close());

/** A shell command that prints these lines. */
async function printing(...lines: (string | object)[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  return `cat ${await bench.script('lines', `${text}\n`)}`;
}
const completed = async () => (await bench.service.call('completeTask')).body;
const failed = async () => (await bench.service.call('failTask')).body;
const history = (end: 'merged' | 'ended'): TaskPayload['history'] => ({
  end,
  enteredAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  changedFiles: [],
  pullRequests: [],
  reviewCycles: 0,
  failures: [],
  costs: { totalUsd: 0, unreportedCosts: 0, byAgent: [] },
  timeline: [],
});

describe('exit code 0 of a retrospect', () => {
  test.each([
    ['merged', 'success'],
    ['ended', 'abandoned'],
  ] as const)('reports the printed summary of an issue that is %s: %s', async (end, outcomeClassification) => {
    bench.service.add('retrospect').payload.history = history(end);
    bench.exec('echo It went; echo well.');
    expect(await completed()).toMatchObject({
      outcome: 'retrospective',
      result: { outcomeClassification, summary: 'It went\nwell.', plannedFiles: null, actualFiles: null },
    });
  });

  test('a retrospect that prints nothing is a failure', async () => {
    bench.service.add('retrospect');
    bench.exec('true');
    expect(await failed()).toMatchObject({ errorMessage: expect.stringContaining('no summary') });
  });
});

describe('a code map', () => {
  const files = (...paths: string[]) => ({ type: 'code-map', files: paths.map((path) => ({ path })) });
  const symbol = { path: 'b', name: 'run', kind: 'function', line: 1 };

  test('consists of all reported lines when the program succeeds', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    bench.exec(await printing(files('a'), { type: 'code-map', symbols: [symbol] }, files('b')));
    expect(await completed()).toMatchObject({
      outcome: 'scanned',
      result: {
        headSha: null,
        truncated: false,
        files: [{ path: 'a', language: null }, { path: 'b' }],
        symbols: [symbol],
      },
    });
  });

  test('the code map has what the outcome reports beside the lines', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    const result = { headSha: 'abcdef1', files: [{ path: 'z', size: 3 }], symbols: [] };
    bench.exec(await printing(files('a'), { type: 'outcome', outcome: 'scanned', result }));
    expect((await completed()).result).toMatchObject({
      headSha: 'abcdef1',
      files: [{ path: 'a' }, { path: 'z', size: 3 }],
    });
  });

  test('a code map that was not printed is a failure, and never an empty map', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    bench.exec('echo done');
    expect(await failed()).toMatchObject({ errorMessage: expect.stringContaining('no code map') });
  });

  test('over the bounds is cut, reports that, and names no symbol of a file that it left out', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    const path = (n: number) => `src/file-${n}.ts`;
    const parts = Array.from({ length: 21 }, (_, part) => ({
      ...files(...Array.from({ length: 1_000 }, (_, n) => path(part * 1_000 + n))),
      symbols: [{ ...symbol, path: path(part * 1_000) }],
    }));
    bench.exec(await printing(...parts));
    const { result } = await completed();
    expect(result.truncated).toBe(true);
    expect(result.files).toHaveLength(20_000);
    expect(result.symbols).toHaveLength(20);
  });

  test('refuses a map with the same file twice, and the task fails with the reason', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    bench.exec(await printing(files('a'), files('a')));
    expect(await failed()).toMatchObject({ errorMessage: expect.stringContaining('a is listed twice') });
  });

  test.each(['/etc/passwd', '../x', 'a/../../x', ''])(
    'a map with the path %j is invalid, whatever else is reported',
    async (path) => {
      bench.service.add('code-map-scan', { issueNumber: null });
      const outcome = { type: 'outcome', outcome: 'scanned', result: { files: [], symbols: [] } };
      bench.exec(await printing(files('a'), files(path), outcome));
      expect(await failed()).toMatchObject({ errorMessage: expect.stringContaining('not valid') });
    },
  );

  test('a map with a line that is too long is invalid', async () => {
    bench.service.add('code-map-scan', { issueNumber: null });
    bench.exec(await printing(files('a'), files('x'.repeat(2 ** 20))));
    expect(await failed()).toMatchObject({ errorMessage: expect.stringContaining('code-map line of') });
  });
});
