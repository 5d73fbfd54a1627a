import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { getState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

/**
 * Stands for `@jest/globals` inside tests: the suite that Jest's own runner uses, on the global object of the process.
 */
export { expect } from 'expect';
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';

const mocker = new ModuleMocker(globalThis);
let timers: ModernFakeTimers | undefined;

/** The parts of Jest's `jest` that need no module registry: Node's registry, which all files share, cannot be mocked. */
export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config?: Config.FakeTimersConfig) => fakeTimers().useFakeTimers(config),
  useRealTimers: () => fakeTimers().useRealTimers(),
  advanceTimersByTimeAsync: (ms: number) => fakeTimers().advanceTimersByTimeAsync(ms),
  getTimerCount: () => fakeTimers().getTimerCount(),
  /** Sets the timeout in ms of all tests of this file. */
  setTimeout: (ms: number) => {
    getState().testTimeout = ms;
  },
};

/** Makes the fake timers of the next test file; they begin real. */
export function prepareTimers(config: Config.ProjectConfig): void {
  timers = new ModernFakeTimers({ config, global: globalThis });
}

/** Puts back what the test file replaced by spies and fake timers. */
export function restoreMocks(): void {
  mocker.restoreAllMocks();
  timers?.dispose();
}

function fakeTimers(): ModernFakeTimers {
  if (!timers) throw new Error('fake timers are there while a test file runs');
  return timers;
}
