import type { SerializableError, TestResult } from '@jest/test-result';
import type { CallbackTestRunner, Config, Test } from 'jest-runner';
import { Worker } from 'jest-worker';
import { longestFirst } from './order.ts';
import type { TestFile } from './results.ts';

type RunFile = (file: TestFile) => Promise<TestResult>;
type OneWorker = Worker & { runTestFile: RunFile; residentBytes: () => Promise<number> };

/**
 * Memory of a worker process after which the next file gets a new one. The start of a program copies the page tables of its
 * parent: on a virtual machine it takes 4 ms from a small process and 95 ms from one of 800 MB.
 */
const MAX_RESIDENT_BYTES = 600 * 1024 * 1024;

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
    const runOne = async (test: Test, place: Place): Promise<void> => {
      await onStart(test);
      const report = await place.run({ path: test.path, config: test.context.config, globalConfig }).then(
        (result) => () => onResult(test, result),
        (error: SerializableError) => () => onFailure(test, error),
      );
      await report();
    };
    const waiting = longestFirst(tests).values();
    const lane = async (): Promise<void> => {
      let place: Place | undefined;
      try {
        for (const test of waiting) {
          if (watcher.isInterrupted()) return;
          place ??= serial ? await inThisProcess() : inWorker();
          await runOne(test, place);
          if (await place.isLarge()) place = await place.end();
        }
      } finally {
        await place?.end();
      }
    };
    await Promise.all(Array.from({ length: serial ? 1 : globalConfig.maxWorkers }, lane));
  }
}

/** Process that runs test files, one at a time. */
interface Place {
  readonly run: RunFile;
  isLarge(): Promise<boolean>;
  end(): Promise<undefined>;
}

/** The pool waits 500 ms. */
const KILLED =
  'A worker did not exit within 500 ms and was killed: the machine is busy, or a test has left a handle open.\n';

function inWorker(): Place {
  const pool = new Worker(new URL('./test-file.ts', import.meta.url), {
    exposedMethods: ['runTestFile', 'residentBytes'],
    forkOptions: { serialization: 'json', stdio: 'pipe' },
    maxRetries: 3,
    numWorkers: 1,
  }) as OneWorker;
  pool.getStdout().pipe(process.stdout);
  pool.getStderr().pipe(process.stderr);
  return {
    run: (file) => pool.runTestFile(file),
    isLarge: async () => (await pool.residentBytes()) > MAX_RESIDENT_BYTES,
    end: async () => {
      const { forceExited } = await pool.end();
      if (forceExited) process.stderr.write(KILLED);
      return undefined;
    },
  };
}

async function inThisProcess(): Promise<Place> {
  const { runTestFile } = await import('./test-file.ts');
  return { run: runTestFile, isLarge: async () => false, end: async () => undefined };
}
