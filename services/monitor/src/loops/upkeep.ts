import { Settings } from '@pipeline/domain';
import {
  checkDueProtections,
  type Engine,
  enforceBudgets,
  type HostOf,
  releaseStranded,
  runDueStrategies,
} from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { readSettings } from '@pipeline/store';

/** Reads what restricts pushes to the default branches; a branch open to all who may push is a warning in the log. */
export const checkProtections = (engine: Engine, hostOf: HostOf, log: Logger): Promise<unknown> =>
  checkDueProtections(engine, hostOf, {
    onChecked: ({ owner, name, default_branch: branch }, { status, message }) => {
      if (status !== 'ok') log.warn(message, { repo: `${owner}/${name}`, branch, check: 'push-protection', status });
    },
    onFailed: ({ owner, name }, error) =>
      log.warn('push restrictions could not be read from the host', { repo: `${owner}/${name}`, error }),
  });

/** Releases tasks whose compared agent no worker runs, and logs each. */
export const releaseCompared = (engine: Engine, log: Logger): Promise<unknown> =>
  releaseStranded(engine, ({ repo, issue_number, task_type, compared_agent }) =>
    log.warn('no worker runs the agent of a compared task; any agent may claim it now', {
      repo,
      issue: issue_number,
      taskType: task_type,
      comparedAgent: compared_agent,
    }),
  );

/**
 * Enforces budgets by the limits that are in force everywhere, not by this process's own file: replicas that were
 * started with different ones would hold and release in turns.
 */
export async function enforceCurrentBudgets(engine: Engine): Promise<'again' | undefined> {
  const row = await readSettings(engine.store.db);
  const written = Settings.safeParse(row?.body);
  const settings = written.success ? () => written.data : engine.settings;
  return (await enforceBudgets({ ...engine, settings })) ? 'again' : undefined;
}

/** Makes the weekly proposals that are due, and logs each that failed. */
export async function runStrategies(engine: Engine, log: Logger): Promise<'again' | undefined> {
  const { failures, more } = await runDueStrategies(engine);
  for (const { key, error } of failures) log.error('weekly proposal failed', { ...key, error });
  return more ? 'again' : undefined;
}
