import type { Config } from '@jest/types';
import { prepareTimers, restoreMocks } from './globals.ts';

/**
 * Makes the state that test files share ready for one of them: `output` becomes the console.
 * @returns restores the console, spies, timers, `process.exit`, the exit code and the environment variables. Modules
 * hold no state of their own, so nothing else may differ afterwards.
 */
export function shareState(config: Config.ProjectConfig, output: Console): () => void {
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
