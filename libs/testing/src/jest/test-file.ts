import { Session } from 'node:inspector/promises';
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BufferedConsole } from '@jest/console';
import type { TestResult, V8CoverageResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { expect } from 'expect';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import { closeLeftOpen } from '../processes/closing.ts';
import { COMPILE_CACHE } from '../processes/compile-cache.ts';
import { prepareTimers, restoreMocks } from './globals.ts';
import { type TestFile, testResult } from './results.ts';
import { withReadableStack } from './stacks.ts';

/** `expect` reads the name of the running test, and a test fails by assertions that it announced and did not make. */
addEventHandler((event) => {
  if (event.name === 'test_start') expect.setState({ currentTestName: nameOf(event.test) });
  if (event.name !== 'test_done') return;
  const { isExpectingAssertions, suppressedErrors } = expect.getState();
  const announced = expect.extractExpectedAssertionsErrors().map(({ error }) => error);
  // hasAssertions() adds nothing to a test that failed before its first assertion.
  if (!isExpectingAssertions || event.test.errors.length === 0) event.test.errors.push(...announced);
  event.test.errors.push(...suppressedErrors);
  expect.setState({ suppressedErrors: [] });
});

/** Counts executed code until `take`, which resets the counts. */
interface Coverage {
  /** Takes the coverage of the workspace's own sources, tests left out. */
  take(): Promise<V8CoverageResult>;
}

let session: Promise<Session> | undefined;

const GLOBALS = import.meta.resolve('./globals.ts');
/** Marks a test file that runs again in this process; its parts and helpers are evaluated again with it. */
const AGAIN = /\?again=\d+$/;

enableCompileCache(COMPILE_CACHE.NODE_COMPILE_CACHE);
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
    const found = next(specifier, context);
    const again = specifier.startsWith('.') ? AGAIN.exec(context.parentURL ?? '')?.[0] : undefined;
    return again !== undefined && found.url.includes('/test/') ? { ...found, url: `${found.url}${again}` } : found;
  },
});

const seen = new Set<string>();

/**
 * Runs one test file on the modules and the global object of this process, as a program runs: Node loads each module
 * once per process, not once per test file, and only the test file itself is evaluated for every run. State that all
 * files share is restored afterwards.
 * @throws the error with which the file did not load.
 */
export async function runTestFile(file: TestFile): Promise<TestResult> {
  const output = new BufferedConsole();
  const coverage = file.globalConfig.collectCoverage ? await startCoverage(file.config.rootDir) : undefined;
  const restore = shareState(file.config, output);
  const start = Date.now();
  try {
    const url = pathToFileURL(file.path);
    if (seen.has(file.path)) url.search = `again=${start}`; // in watch mode
    seen.add(file.path);
    const outcome = await runSuite(file, () => import(url.href));
    const v8Coverage = await coverage?.take();
    return testResult(file, outcome, { start, end: Date.now(), console: output.getBuffer(), v8Coverage });
  } catch (error) {
    throw withReadableStack(error);
  } finally {
    await closeLeftOpen();
    restore();
  }
}

/** Returns the memory of this process. */
export const residentBytes = (): number => process.memoryUsage.rss();

/**
 * Coverage as V8 counts it: stripping types keeps every position, so Jest's coverage reports need no source maps. It is
 * started before the first file of the process, for V8 counts blocks only in functions that were compiled later.
 */
async function startCoverage(rootDir: string): Promise<Coverage> {
  session ??= connect();
  const profiler = await session;
  return {
    take: async () => {
      const { result } = await profiler.post('Profiler.takePreciseCoverage');
      return result
        .filter(({ url }) => url.startsWith('file://'))
        .map((script) => ({ ...script, url: fileURLToPath(script.url) }))
        .filter(({ url }) => isOwnSource(url, rootDir))
        .map((script) => ({ codeTransformResult: undefined, result: script }));
    },
  };
}

async function connect(): Promise<Session> {
  const profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return profiler;
}

function isOwnSource(path: string, rootDir: string): boolean {
  const isSource = path.startsWith(`${rootDir}/`) && path.includes('/src/') && !path.includes('/node_modules/');
  return isSource && !path.endsWith('.test.ts');
}

/**
 * Lets `load` declare the tests of a file and runs them. An exception or rejection that nothing handles fails the test
 * that runs at that moment, else the file.
 * @throws what `load` throws.
 */
async function runSuite(file: TestFile, load: () => Promise<unknown>): Promise<Circus.RunResult> {
  const { path, config, globalConfig } = file;
  resetState();
  const state = getState();
  state.maxConcurrency = globalConfig.maxConcurrency;
  state.testNamePattern = globalConfig.testNamePattern ? new RegExp(globalConfig.testNamePattern, 'i') : null;
  state.testTimeout = config.testTimeout ?? globalConfig.testTimeout ?? state.testTimeout;
  expect.setState({ assertionCalls: 0, expand: globalConfig.expand, testPath: path });
  const fail = (error: unknown): void => {
    const { currentlyRunningTest, unhandledErrors } = getState();
    (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
  };
  process.on('uncaughtException', fail).on('unhandledRejection', fail);
  try {
    await load();
    return await run();
  } finally {
    process.off('uncaughtException', fail).off('unhandledRejection', fail);
  }
}

function nameOf(test: Circus.TestEntry): string {
  const names = [test.name];
  for (let block: Circus.DescribeBlock | undefined = test.parent; block?.parent; block = block.parent)
    names.unshift(block.name);
  return names.join(' ');
}

/**
 * Makes the state that test files share ready for one of them: `output` becomes the console.
 * @returns restores the console, spies, timers, `process.exit`, the exit code and the environment variables. Modules
 * hold no state of their own, so nothing else may differ afterwards.
 */
function shareState(config: Config.ProjectConfig, output: Console): () => void {
  const { console } = globalThis;
  const { exit, exitCode } = process;
  const env = { ...process.env };
  globalThis.console = output;
  prepareTimers(config);
  return () => {
    restoreMocks();
    globalThis.console = console;
    process.exit = exit;
    process.exitCode = exitCode;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  };
}
