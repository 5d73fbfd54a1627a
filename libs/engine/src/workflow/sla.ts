import { slaLimits } from '@pipeline/domain';
import { endedSlaBreaches, type SlaBreach, shortestSla, slaBreaches } from '@pipeline/store';
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';

const BATCH = 500;

/**
 * Raises an alert for each issue over the limit of its state (interface: SLA breach), and resolves those of issues that
 * moved, were paused or are done. Replicas may run it concurrently: an open alert is not raised again.
 * @returns how many alerts changed, and whether there may be more.
 */
export async function watchSla(engine: Engine): Promise<{ raised: number; resolved: number; more: boolean }> {
  const { db } = engine.store;
  const limits = slaLimits(engine.settings().sla.warnAfterMinutes);
  const ended = await endedSlaBreaches(db, limits, BATCH);
  const resolved = await byTenant(engine, ended, (unit, { fingerprint }) => resolveAlert(unit, fingerprint));
  const shortest = await shortestSla(db, limits);
  const found = shortest === null ? [] : (await slaBreaches(limits, shortest, BATCH).execute(db)).rows;
  const raised = await byTenant(engine, found, (unit, breach) => raiseAlert(unit, alertOf(breach)));
  return { raised, resolved, more: ended.length === BATCH || found.length === BATCH };
}

const alertOf = ({
  fingerprint,
  owner,
  name,
  issue_number,
  state,
  minutes,
  limit_minutes,
  pending_plan,
}: SlaBreach) => ({
  severity: 'warning' as const,
  detector: 'sla_breach' as const,
  fingerprint,
  message: `${owner}/${name}#${issue_number} is in ${state} for ${minutes} minutes${approvalOf(pending_plan)}; the warning threshold is ${limit_minutes}`,
  repo: `${owner}/${name}`,
  issueNumber: issue_number,
  value: minutes,
  threshold: limit_minutes,
});

const approvalOf = (version: number | null): string =>
  version === null ? '' : ` and waits for the approval of version ${version} of its plan`;

/** One transaction for each tenant, in fingerprint order. @returns how often `act` returned true. */
async function byTenant<T extends { tenant_id: number; fingerprint: string }>(
  engine: Engine,
  rows: readonly T[],
  act: (unit: TransactionContext, row: T) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (const [tenantId, ofTenant] of Map.groupBy(rows, (row) => row.tenant_id)) {
    const sorted = ofTenant.toSorted((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
    done += await inTenant(engine, tenantId, async (unit) => {
      let changed = 0;
      for (const row of sorted) if (await act(unit, row)) changed += 1;
      return changed;
    });
  }
  return done;
}
