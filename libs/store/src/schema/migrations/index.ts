import type { Kysely } from 'kysely';
import { up as tenantsAndRepos } from './0001-0020/0001-tenants-and-repos.ts';
import { up as issues } from './0001-0020/0002-issues.ts';
import { up as tasksAndRuns } from './0001-0020/0003-tasks-and-runs.ts';
import { up as events } from './0001-0020/0004-events.ts';
import { up as outbox } from './0001-0020/0005-outbox.ts';
import { up as consistency } from './0001-0020/0006-consistency.ts';
import { up as workerPeriods } from './0001-0020/0007-worker-periods.ts';
import { up as alerts } from './0001-0020/0008-alerts.ts';
import { up as retrospectivesAndRepoFiles } from './0001-0020/0009-retrospectives-and-repo-files.ts';
import { up as workerOwners } from './0001-0020/0010-worker-owners.ts';
import { up as agentsAndAudit } from './0001-0020/0011-agents-and-audit.ts';
import { up as oauth } from './0001-0020/0012-oauth.ts';
import { up as issueLists } from './0001-0020/0013-issue-lists.ts';
import { up as errorFingerprints } from './0001-0020/0014-error-fingerprints.ts';
import { up as streamOrder } from './0001-0020/0015-stream-order.ts';
import { up as rollups } from './0001-0020/0016-rollups.ts';
import { up as findingsAndIntelligence } from './0001-0020/0017-findings-and-intelligence.ts';
import { up as tracks } from './0001-0020/0018-tracks.ts';
import { up as strategy } from './0001-0020/0019-strategy.ts';
import { up as configReloads } from './0001-0020/0020-config-reloads.ts';
import { up as kpis } from './0021-0040/0021-kpis.ts';
import { up as issueDetail } from './0021-0040/0022-issue-detail.ts';
import { up as alertDeliveries } from './0021-0040/0023-alert-deliveries.ts';
import { up as oldRuns } from './0021-0040/0024-old-runs.ts';
import { up as digestsAndWaits } from './0021-0040/0025-digests-and-waits.ts';
import { up as cheaperQueue } from './0021-0040/0026-cheaper-queue.ts';
import { up as countsByMonth } from './0021-0040/0027-counts-by-month.ts';
import { up as ageOfPullRequests } from './0021-0040/0028-age-of-pull-requests.ts';
import { up as ownPullRequests } from './0021-0040/0029-own-pull-requests.ts';
import { up as hostFacts } from './0021-0040/0030-host-facts.ts';
import { up as boundlessSums } from './0021-0040/0031-boundless-sums.ts';
import { up as limitsAssigneesAndEvidence } from './0021-0040/0032-limits-assignees-and-evidence.ts';
import { up as leadersAndLoopProblems } from './0021-0040/0033-leaders-and-loop-problems.ts';
import { up as monthPartitionsAndTokenUse } from './0021-0040/0034-month-partitions-and-token-use.ts';
import { up as issueAssignees } from './0021-0040/0035-issue-assignees.ts';
import { up as removedRepos } from './0021-0040/0036-removed-repos.ts';
import { up as checks } from './0021-0040/0037-checks.ts';
import { up as auditOrder } from './0021-0040/0038-audit-order.ts';
import { up as mergeTrains } from './0021-0040/0039-merge-trains.ts';
import { up as planApproval } from './0021-0040/0040-plan-approval.ts';
import { up as unreportedCosts } from './0041-0060/0041-unreported-costs.ts';
import { up as agentComparison } from './0041-0060/0042-agent-comparison.ts';
import { up as traceExport } from './0041-0060/0043-trace-export.ts';
import { up as repoIdentity } from './0041-0060/0044-repo-identity.ts';
import { up as userIdentities } from './0041-0060/0045-user-identities.ts';
import { up as invitations } from './0041-0060/0046-invitations.ts';
import { up as clockFunction } from './0041-0060/0047-clock-function.ts';
import { up as distribution } from './0041-0060/0048-distribution.ts';
import { up as distributedRollups } from './0041-0060/0050-distributed-rollups.ts';
import { up as distributedStream } from './0041-0060/0051-distributed-stream.ts';
import { up as retentionIndexes } from './0041-0060/0054-retention-indexes.ts';
import { up as eventCountsByTime } from './0041-0060/0055-event-counts-by-time.ts';
import { up as endOfCancelledRuns } from './0041-0060/0056-end-of-cancelled-runs.ts';
import { up as waitingRetries } from './0041-0060/0057-waiting-retries.ts';
import { up as moreRetentionIndexes } from './0041-0060/0058-more-retention-indexes.ts';
import { up as rounds } from './0041-0060/0059-rounds.ts';
import { up as taskTypesOfTokens } from './0041-0060/0060-task-types-of-tokens.ts';
import { up as suitesOfChecks } from './0041-0060/0061-suites-of-checks.ts';
import { up as closedFacts } from './0041-0060/0062-closed-facts.ts';
import { up as budgetDays } from './0041-0060/0063-budget-days.ts';

/** A schema change, forward only. `breaking` = code that does not know it must not run on it. */
export interface SchemaMigration {
  up(db: Kysely<unknown>): Promise<void>;
  breaking?: boolean;
}

/** Migrations in order. Listed by hand, so that bundles contain them and reviewers see the order. */
export const MIGRATIONS: Record<string, SchemaMigration> = {
  '0001-tenants-and-repos': { up: tenantsAndRepos },
  '0002-issues': { up: issues },
  '0003-tasks-and-runs': { up: tasksAndRuns },
  '0004-events': { up: events },
  '0005-outbox': { up: outbox },
  '0006-consistency': { up: consistency },
  '0007-worker-periods': { up: workerPeriods },
  '0008-alerts': { up: alerts },
  '0009-retrospectives-and-repo-files': { up: retrospectivesAndRepoFiles },
  '0010-worker-owners': { up: workerOwners },
  '0011-agents-and-audit': { up: agentsAndAudit },
  '0012-oauth': { up: oauth },
  '0013-issue-lists': { up: issueLists },
  '0014-error-fingerprints': { up: errorFingerprints },
  '0015-stream-order': { up: streamOrder, breaking: true },
  '0016-rollups': { up: rollups, breaking: true },
  '0017-findings-and-intelligence': { up: findingsAndIntelligence },
  '0018-tracks': { up: tracks },
  '0019-strategy': { up: strategy },
  '0020-config-reloads': { up: configReloads },
  '0021-kpis': { up: kpis },
  '0022-issue-detail': { up: issueDetail },
  '0023-alert-deliveries': { up: alertDeliveries },
  '0024-old-runs': { up: oldRuns },
  '0025-digests-and-waits': { up: digestsAndWaits },
  '0026-cheaper-queue': { up: cheaperQueue },
  '0027-counts-by-month': { up: countsByMonth, breaking: true },
  '0028-age-of-pull-requests': { up: ageOfPullRequests },
  '0029-own-pull-requests': { up: ownPullRequests },
  '0030-host-facts': { up: hostFacts },
  '0031-boundless-sums': { up: boundlessSums },
  '0032-limits-assignees-and-evidence': { up: limitsAssigneesAndEvidence },
  '0033-leaders-and-loop-problems': { up: leadersAndLoopProblems },
  '0034-month-partitions-and-token-use': { up: monthPartitionsAndTokenUse },
  '0035-issue-assignees': { up: issueAssignees },
  '0036-removed-repos': { up: removedRepos },
  '0037-checks': { up: checks },
  '0038-audit-order': { up: auditOrder },
  '0039-merge-trains': { up: mergeTrains },
  '0040-plan-approval': { up: planApproval },
  '0041-unreported-costs': { up: unreportedCosts },
  '0042-agent-comparison': { up: agentComparison },
  '0043-trace-export': { up: traceExport },
  '0044-repo-identity': { up: repoIdentity },
  '0045-user-identities': { up: userIdentities },
  '0046-invitations': { up: invitations },
  '0047-clock-function': { up: clockFunction },
  '0048-distribution': { up: distribution },
  '0050-distributed-rollups': { up: distributedRollups },
  '0051-distributed-stream': { up: distributedStream },
  '0054-retention-indexes': { up: retentionIndexes },
  '0055-event-counts-by-time': { up: eventCountsByTime },
  '0056-end-of-cancelled-runs': { up: endOfCancelledRuns },
  '0057-waiting-retries': { up: waitingRetries },
  '0058-more-retention-indexes': { up: moreRetentionIndexes },
  '0059-rounds': { up: rounds },
  '0060-task-types-of-tokens': { up: taskTypesOfTokens },
  '0061-suites-of-checks': { up: suitesOfChecks },
  '0062-closed-facts': { up: closedFacts, breaking: true },
  '0063-budget-days': { up: budgetDays, breaking: true },
};
