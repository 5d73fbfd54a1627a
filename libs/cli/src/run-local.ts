import type { LocalSession } from './command/command.ts';
import { type Order, report } from './report.ts';

/** Runs a command that needs no database. @returns the exit code. */
export function runLocal(order: Order<LocalSession>): Promise<number> {
  const { env, streams, action, flags } = order;
  return report(order, action({ env, streams, isJson: flags.json === true }));
}
