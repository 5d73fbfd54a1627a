import { enableCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { BufferedConsole } from '@jest/console';
import type { TestResult } from '@jest/test-result';
import { closeLeftOpen } from '../processes/closing.ts';
import { COMPILE_CACHE } from '../processes/compile-cache.ts';
import { startCoverage } from './coverage.ts';
import type { TestFile } from './file.ts';
import { testResult } from './results.ts';
import { shareState } from './shared-state.ts';
import { withReadableStack } from './stacks.ts';
import { runSuite } from './suite.ts';

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
