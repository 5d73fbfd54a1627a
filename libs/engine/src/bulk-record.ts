import type { BulkOutcome, BulkRequest } from './bulk-actions.ts';
import { type Engine, inTenant } from './context.ts';
import { recordOperation } from './records.ts';
import type { Actor } from './subject.ts';

/**
 * Records a bulk call: actor, filter, reason and results. Logs belong to repos, so each repo that the call reached gets
 * an entry with its own counts; `bulkId` links them and the entries of the issues.
 */
export async function recordBulk(
  engine: Engine,
  { what, where, criteria }: BulkRequest,
  outcomes: readonly BulkOutcome[],
  actor: Actor,
): Promise<void> {
  const byTenant = Map.groupBy(outcomes, ({ issue }) => issue.tenantId);
  for (const [tenantId, ofTenant] of byTenant) {
    await inTenant(engine, tenantId, async (unit) => {
      for (const [repoId, ofRepo] of Map.groupBy(ofTenant, ({ issue }) => issue.repoId)) {
        const numbers = (kind: BulkOutcome['kind']) =>
          ofRepo.filter((outcome) => outcome.kind === kind).map(({ issue }) => issue.number);
        recordOperation(unit, { issue: { id: null, repo_id: repoId, issue_number: null } }, actor, {
          ...what,
          action: `bulk-${what.action}`,
          filter: { ...where, ...criteria },
          succeeded: numbers('succeeded').length,
          skipped: numbers('skipped').length,
          failed: numbers('failed'),
        });
      }
    });
  }
}
