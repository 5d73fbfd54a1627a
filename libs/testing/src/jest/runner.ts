import type { SerializableError, TestResult } from '@jest/test-result';
import type { CallbackTestRunner, Config, Test } from 'jest-runner';
import { Worker } from 'jest-worker';
import { longestFirst } from './order.ts';
import type { TestFile } from './results.ts';

type RunFile = (file: TestFile) => Promise<TestResult>;
type WorkerPool = Worker & { runTestFile: RunFile };

/**
 * Jest's runner (its option `runner`) for tests whose modules Node itself loads. Jest finds the files, orders them and
 * reports; this runner hands each file to a worker process, where ./test-file.ts runs it. With `--runInBand`, which Jest
 * also chooses for a single file, everything runs in Jest's own process, where a debugger sees it.
 */
export default class NodeModulesRunner {
  readonly supportsEventEmitters = false;
  readonly #globalConfig: Config.GlobalConfig;

  constructor(globalConfig: Config.GlobalConfig) {
    this.#globalConfig = globalConfig;
  }

  /** Runs every file and reports its start and its result. Files that wait when the run is interrupted are left out. */
  async runTests(
    ...[tests, watcher, onStart, onResult, onFailure, { serial }]: Parameters<CallbackTestRunner['runTests']>
  ): Promise<void> {
    const globalConfig = this.#globalConfig;
    const { run, end } = serial ? await inThisProcess() : inWorkers(globalConfig);
    const runOne = async (test: Test): Promise<void> => {
      await onStart(test);
      const report = await run({ path: test.path, config: test.context.config, globalConfig }).then(
        (result) => () => onResult(test, result),
        (error: SerializableError) => () => onFailure(test, error),
      );
      await report();
    };
    const waiting = longestFirst(tests).values();
    const lane = async (): Promise<void> => {
      for (const test of waiting) if (!watcher.isInterrupted()) await runOne(test);
    };
    try {
      await Promise.all(Array.from({ length: serial ? 1 : globalConfig.maxWorkers }, lane));
    } finally {
      await end();
    }
  }
}

interface Place {
  readonly run: RunFile;
  end(): Promise<void>;
}

/** The pool waits 500 ms. */
const KILLED =
  'A worker did not exit within 500 ms and was killed: the machine is busy, or a test has left a handle open.\n';

function inWorkers({ maxWorkers }: Config.GlobalConfig): Place {
  const pool = new Worker(new URL('./test-file.ts', import.meta.url), {
    exposedMethods: ['runTestFile'],
    forkOptions: { serialization: 'json', stdio: 'pipe' },
    maxRetries: 3,
    numWorkers: maxWorkers,
  }) as WorkerPool;
  pool.getStdout().pipe(process.stdout);
  pool.getStderr().pipe(process.stderr);
  return {
    run: (file) => pool.runTestFile(file),
    end: async () => {
      const { forceExited } = await pool.end();
      if (forceExited) process.stderr.write(KILLED);
    },
  };
}

async function inThisProcess(): Promise<Place> {
  const { runTestFile } = await import('./test-file.ts');
  return { run: runTestFile, end: async () => {} };
}
