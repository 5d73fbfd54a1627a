import { Settings } from '@pipeline/domain';
import {
  aggregateCounts,
  autoUnblock,
  checkDueProtections,
  type Engine,
  embedItems,
  enforceBudgets,
  enqueueDueScans,
  expireIntelligence,
  type HostOf,
  type Inbox,
  type LabelReconciler,
  type ParentWatch,
  reclaimExpired,
  reclaimStalled,
  releaseDue,
  releaseStranded,
  releaseWaiting,
  watchSilence,
  watchSla,
} from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { readSettings } from '@pipeline/store';
import type { Lead } from './lead.ts';

/** Starts the handling of deliveries. One replica does, so that those of one issue are handled in their order. */
export const inboxTick = (engine: Engine, inbox: Inbox, lead: Lead) => async () => {
  await lead.run(engine, (leading) => inbox.step(leading));
};

/** Enqueues the scans of repos that are due; one replica looks after all. */
export const scansTick = (engine: Engine, lead: Lead) => async () => {
  await lead.run(engine, enqueueDueScans);
};

/** Reads what restricts pushes to the default branches; a branch open to all who may push is a warning in the log. */
export const protectionTick = (engine: Engine, hostOf: HostOf, lead: Lead, log: Logger) => async () => {
  await lead.run(engine, (leading) =>
    checkDueProtections(leading, hostOf, {
      onChecked: ({ owner, name, default_branch: branch }, { status, message }) => {
        if (status !== 'ok') log.warn(message, { repo: `${owner}/${name}`, branch, check: 'push-protection', status });
      },
      onFailed: ({ owner, name }, error) =>
        log.warn('push restrictions could not be read from the host', { repo: `${owner}/${name}`, error }),
    }),
  );
};

// These act on each row by compare-and-set, so any number of replicas may run them at once.
export const reclaimTick = (engine: Engine) => () => reclaimExpired(engine);
export const stalledTick = (engine: Engine) => () => reclaimStalled(engine);
export const silenceTick = (engine: Engine) => () => watchSilence(engine);
export const releaseDueTick = (engine: Engine) => () => releaseDue(engine);
export const releaseStrandedTick = (engine: Engine, log: Logger) => () =>
  releaseStranded(engine, ({ repo, issue_number, task_type, compared_agent }) =>
    log.warn('no worker runs the agent of a compared task; any agent may claim it now', {
      repo,
      issue: issue_number,
      taskType: task_type,
      comparedAgent: compared_agent,
    }),
  );
export const autoUnblockTick = (engine: Engine, onLifted: (repo: string) => void) => () =>
  autoUnblock(engine, onLifted);
/**
 * Enforces budgets by the limits that are in force everywhere, not by this process's own file: replicas that were
 * started with different ones would hold and release in turns.
 */
export const budgetsTick = (engine: Engine) => async () => {
  const row = await readSettings(engine.store.fleet);
  const written = Settings.safeParse(row?.body);
  const settings = written.success ? () => written.data : engine.settings;
  return (await enforceBudgets({ ...engine, settings })) ? 'again' : undefined;
};
export const releaseWaitingTick = (engine: Engine) => () => releaseWaiting(engine);
export const staleIntelligenceTick = (engine: Engine) => async () =>
  (await expireIntelligence(engine)).more ? 'again' : undefined;
export const aggregateTick = (engine: Engine) => () => aggregateCounts(engine);
export const slaTick = (engine: Engine) => async () => ((await watchSla(engine)).more ? 'again' : undefined);
/** Each call costs money, so one replica makes them. */
export const embeddingsTick = (engine: Engine, lead: Lead) => () =>
  lead.run(engine, async (leading) => ((await embedItems(leading)).more ? 'again' : undefined));

/** Each remembers where it stands, so one replica leads. */
export const labelReconcilerTick = (engine: Engine, walk: LabelReconciler, lead: Lead) => () =>
  lead.run(engine, async (leading) => ((await walk.step(leading)).more ? 'again' : undefined));

export const parentWatchTick = (engine: Engine, watch: ParentWatch, lead: Lead) => async () => {
  await lead.run(engine, (leading) => watch.check(leading));
};
