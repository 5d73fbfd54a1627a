import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { closeLeftOpen } from '../processes/closing.ts';

/** Descriptions of the symbols under which Jest keeps the state of one test file on the global object. */
const STATE = new Set([
  'JEST_STATE_SYMBOL',
  'EVENT_HANDLERS',
  'TEST_TIMEOUT_SYMBOL',
  'RETRY_TIMES',
  'RETRY_TIMES_SETTER',
  'RETRY_IMMEDIATELY',
  'WAIT_BEFORE_RETRY',
  'LOG_ERRORS_BEFORE_RETRY',
]);

/** A frame of a stack with a path instead of an address. */
const withoutScheme = (line: string): string => (/^\s+at /.test(line) ? line.replace('file://', '') : line);

/**
 * A test file runs on the global object of its worker, as a program does, and not in a context of its own. What Jest
 * itself, spies, fake timers and changes of process.env leave there is put back when the file is done; spies are put
 * back by the runtime. Nothing else may change what all share.
 */
export default class ProcessEnvironment implements JestEnvironment {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null; // the legacy ones
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #console = globalThis.console;
  readonly #exit = process.exit;
  readonly #exitCode = process.exitCode;
  readonly #env = { ...process.env };
  #prepareStackTrace = Error.prepareStackTrace;

  constructor({ projectConfig }: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  getVmContext(): null {
    return null;
  }

  /** By now Jest has its own format of stacks, which makes paths relative but not addresses, as modules have them. */
  async setup(): Promise<void> {
    const format = Error.prepareStackTrace;
    this.#prepareStackTrace = format;
    if (!format) return;
    Error.prepareStackTrace = (...error) =>
      String(format(...error))
        .split('\n')
        .map(withoutScheme)
        .join('\n');
  }

  async teardown(): Promise<void> {
    await closeLeftOpen();
    this.fakeTimersModern.dispose();
    Error.prepareStackTrace = this.#prepareStackTrace;
    globalThis.console = this.#console;
    process.exit = this.#exit;
    process.exitCode = this.#exitCode;
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (STATE.has(symbol.description ?? '')) Reflect.deleteProperty(globalThis, symbol);
    }
  }
}
