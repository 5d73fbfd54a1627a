import type { ConsoleBuffer } from '@jest/console';
import { createEmptyTestResult, type SerializableError, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { readableStack, withReadableStack } from './stacks.ts';

/** A test file and the configuration it runs with. */
export interface TestFile {
  readonly path: string;
  readonly config: Config.ProjectConfig;
  readonly globalConfig: Config.GlobalConfig;
}

type Assertion = TestResult['testResults'][number];

interface Run {
  /** Start in ms since 1970. */
  readonly start: number;
  readonly end: number;
  readonly console: ConsoleBuffer | undefined;
  readonly v8Coverage: TestResult['v8Coverage'];
}

/** The result of a test file as Jest's reporters read it. */
export function testResult(file: TestFile, outcome: Circus.RunResult, run: Run): TestResult {
  const { path, config, globalConfig } = file;
  const assertions = outcome.testResults.map(assertion);
  const failed = outcome.unhandledErrorsDetailed;
  const messages = [
    formatResultsErrors(assertions, config, globalConfig, path),
    ...failed.map((error) => formatExecError(withReadableStack(error), config, globalConfig)),
  ];
  const count = (status: Assertion['status']): number => assertions.filter((each) => each.status === status).length;
  const empty = createEmptyTestResult();
  return {
    ...empty,
    ...(run.console && { console: run.console }),
    ...(failed.length > 0 && { testExecError: execError(outcome.unhandledErrors) }),
    ...(run.v8Coverage && { v8Coverage: run.v8Coverage }),
    failureMessage: messages.filter(Boolean).join('\n\n') || null,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    perfStats: {
      ...empty.perfStats,
      start: run.start,
      end: run.end,
      runtime: run.end - run.start,
      slow: run.end - run.start > config.slowTestThreshold * 1000,
    },
    testFilePath: path,
    testResults: assertions,
  };
}

function assertion(test: Circus.TestResult): Assertion {
  const [, ...names] = test.testPath; // the first is the name of the file's own block
  const titles = names.map(String);
  return {
    ancestorTitles: titles.slice(0, -1),
    duration: test.duration ?? null,
    failing: test.failing ?? false,
    failureDetails: test.errorsDetailed.map(withReadableStack),
    failureMessages: test.errors.map(readableStack),
    fullName: titles.join(' '),
    invocations: test.invocations,
    location: test.location ?? null,
    numPassingAsserts: test.numPassingAsserts,
    retryReasons: test.retryReasons,
    startAt: test.startedAt ?? null,
    status: statusOf(test),
    title: titles.at(-1) ?? '',
  };
}

function statusOf({ status, errors }: Circus.TestResult): Assertion['status'] {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}

function execError(stacks: readonly string[]): SerializableError {
  return { message: '', stack: stacks.map(readableStack).join('\n') } as SerializableError;
}
