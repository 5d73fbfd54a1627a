import type { Circus } from '@jest/types';
import { expect } from 'expect';
import { addEventHandler, getState, resetState, run } from 'jest-circus';
import type { TestFile } from './file.ts';

/**
 * Lets `load` declare the tests of a file and runs them. An exception or rejection that nothing handles fails the test
 * that runs at that moment, else the file.
 * @throws what `load` throws.
 */
export async function runSuite(file: TestFile, load: () => Promise<unknown>): Promise<Circus.RunResult> {
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

function nameOf(test: Circus.TestEntry): string {
  const names = [test.name];
  for (let block: Circus.DescribeBlock | undefined = test.parent; block?.parent; block = block.parent)
    names.unshift(block.name);
  return names.join(' ');
}
