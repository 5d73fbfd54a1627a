import { isDeepStrictEqual } from 'node:util';
import { DEPLOYMENT, RELOADABLE_KEYS, type Settings } from '@pipeline/domain';
import { enabledRepos, insertAuditEntry, type ReloadReport, upsertReload } from '@pipeline/store';
import { raiseAlert, resolveAlert } from '../alerts/alerts.ts';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';

/** The keys that differ between two sets of settings; what a reload changes. */
export const changedSettings = (before: Settings, after: Settings): string[] =>
  RELOADABLE_KEYS.filter((key) => !isDeepStrictEqual(before[key], after[key]));

/**
 * Records the result of a process's reload. A configuration that does not load raises an alert until the same process
 * loads a valid one. A reload by a person or signal is audited, and the log of every enabled repo lists the changes.
 */
export async function recordReload(engine: Engine, report: ReloadReport, actor: Actor | null): Promise<void> {
  const { agentName, instance, outcome } = report;
  await inTenant(engine, DEPLOYMENT, async (unit) => {
    await upsertReload(unit.tx, report);
    if (actor) {
      const { status, appliedKeys, deferredKeys, error } = outcome;
      await insertAuditEntry(unit.tx, {
        actorType: actor.type,
        actorId: actor.id ?? actor.type,
        action: 'config-reload',
        subject: `configuration of ${agentName} ${instance}`,
        reason: error,
        details: { status, appliedKeys, deferredKeys, trigger: outcome.trigger },
      });
    }
    const fingerprint = `config_reload_failed:${agentName}:${instance}`;
    if (outcome.status !== 'failed') await resolveAlert(unit, fingerprint);
    else {
      const message = `configuration reload of ${agentName} ${instance} failed: ${outcome.error}`;
      await raiseAlert(unit, { severity: 'warning', detector: 'config_reload_failed', fingerprint, message });
    }
  });
  if (actor && (outcome.status === 'applied' || outcome.status === 'partial'))
    await recordInRepos(engine, report, actor);
}

/** One statement for each tenant. */
async function recordInRepos(engine: Engine, { outcome }: ReloadReport, actor: Actor): Promise<void> {
  const { appliedKeys, deferredKeys } = outcome;
  const repos = Map.groupBy(await enabledRepos(engine.store.db), ({ tenant_id }) => tenant_id);
  for (const [tenantId, ofTenant] of repos) {
    await inTenant(engine, tenantId, async (unit) => {
      for (const { id } of ofTenant) {
        const payload = { appliedKeys, deferredKeys, actorId: actor.id };
        const issue = { repo_id: id, issue_number: null, id: null };
        recordPipelineEvent(unit, { issue }, { eventType: 'config_reloaded', agent: actor.type, payload });
      }
    });
  }
}
