import { labelSwap, outputLabels, PAUSED_LABEL, type State } from '@pipeline/domain';
import {
  hasOpenProjections,
  type IssueRow,
  lockIssue,
  openIssuesAfter,
  type ReconciledIssue,
  type ReconcilerCursor,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { queueProjections } from './project.ts';

/** Maximum number of issues that one tick reads, and of host writes that it may cause. */
const MAX_READ = 500;
const REPAIRS_PER_STEP = 20;
const INTERVAL_MS = 60 * 60_000;

/**
 * Scans all open issues, once an hour at most, and restores labels on the host that a person has changed. The host's
 * labels are those stored by polls and webhooks. `svc:paused` is not changed, because people set it and the intake
 * applies it; issues with outbox entries are skipped, because those may restore the labels already. Its cursor is in
 * memory only: a new leader starts over, and repairs nothing twice.
 */
export class LabelReconciler {
  readonly #engine: Engine;
  readonly #now: () => Date;
  #after: ReconcilerCursor | null = null;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, now: () => Date) {
    this.#engine = engine;
    this.#now = now;
  }

  /**
   * @param engine has the term of the leader; default: the engine of the constructor.
   * @returns how many issues were repaired, and whether there are more to read now.
   */
  async step(engine: Engine = this.#engine): Promise<{ repaired: number; more: boolean }> {
    if (this.#after === null) {
      const now = this.#now().getTime();
      if (now - this.#begunAt < INTERVAL_MS) return { repaired: 0, more: false };
      this.#begunAt = now;
    }
    const page = await openIssuesAfter(engine.store.db, this.#after, MAX_READ);
    let repaired = 0;
    for (const issue of page) {
      if (repaired >= REPAIRS_PER_STEP) return { repaired, more: false };
      this.#after = issue;
      if (driftOf(issue) && (await repairLabels(engine, issue))) repaired += 1;
    }
    const more = page.length === MAX_READ;
    if (!more) this.#after = null;
    return { repaired, more };
  }
}

function repairLabels(engine: Engine, { tenant_id, id }: ReconciledIssue): Promise<boolean> {
  return inTenant(engine, tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, tenant_id, id);
    const swap = issue && driftOf(issue);
    if (!issue || !swap || issue.state === 'done' || (await hasOpenProjections(unit.tx, issue, ['pending', 'failed'])))
      return false;
    await queueProjections(unit, await loadIssueContext(unit, issue), [{ type: 'swapLabels', ...swap }]);
    const labels = [...issue.labels.filter((label) => !swap.remove.includes(label)), ...swap.add];
    unit.rows.setIssue(issue.id, { labels });
    return true;
  });
}

/** The change that restores the host's labels; null when they are correct, `svc:paused` aside. */
function driftOf(issue: Pick<IssueRow, 'state' | 'is_blocked' | 'labels'>) {
  const isPaused = issue.labels.includes(PAUSED_LABEL);
  const wanted = outputLabels({ state: issue.state as State, isBlocked: issue.is_blocked, isPaused });
  return labelSwap(issue.labels, wanted);
}
