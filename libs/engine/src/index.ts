export { type AuditEntry, type AuditFilter, readAudit } from './accounts/audit-page.ts';
export { cleanIdentity, linkIdentity, linkOwnIdentity, unlinkOwnIdentity } from './accounts/identities.ts';
export { acceptAsNewUser, acceptInvitation, findInvitation } from './accounts/invitations.ts';
export { loginAudit } from './accounts/login-failures.ts';
export {
  beginSession,
  endConnectionOfClient,
  endOwnConnection,
  endOwnConnections,
  endSession,
  grantConnection,
} from './accounts/own-account.ts';
export { hashPassword, isPasswordHash, PASSWORD_LENGTH, verifyPassword } from './accounts/passwords.ts';
export * as admin from './admin.ts';
export { channelKey, raiseAlert, recordOutage, resolveAlert } from './alerts/alerts.ts';
export { type Readings, runDetectors } from './alerts/detectors.ts';
export { readDigest, writeDailyDigest } from './alerts/digest.ts';
export { watchKpis } from './alerts/regression-guard.ts';
export { costByModel, spendingSummary } from './analytics/costs.ts';
export { dashboardMetrics } from './analytics/dashboard-metrics.ts';
export {
  type Counts,
  type Figures,
  type Live,
  readCounts,
  readFigures,
  readLive,
} from './analytics/dashboard-readings.ts';
export { type AgentWork, agentWork, pipelineSummary } from './analytics/dashboard-summary.ts';
export { timelineTexts } from './analytics/dashboard-timelines.ts';
export { workerPools } from './analytics/dashboard-worker-pools.ts';
export { pipelineEvents } from './analytics/events.ts';
export { type GuardedRepo, readKpis } from './analytics/latest-kpis.ts';
export { attribution, autonomy } from './analytics/merges.ts';
export { type Overview, overviewOf } from './analytics/overview.ts';
export { type RepoMetrics, readPipelineMetrics } from './analytics/pipeline-metrics.ts';
export { retrospectiveSummary, weeklyReliability } from './analytics/reliability.ts';
export { agentScoreboard } from './analytics/scoreboard.ts';
export { cohortFunnel, stateTimeseries, throughput } from './analytics/states.ts';
export { listFindings } from './consistency/findings.ts';
export { enqueueOrphan, OrphanWatch } from './consistency/orphans.ts';
export { repairFinding, type StoreRepair } from './consistency/repairs.ts';
export { type Engine, inTenant, type NotifiedChannel } from './context/context.ts';
export { handleEach } from './context/handle-each.ts';
export type { Actor, IssueKey } from './context/issue-context.ts';
export { assertHeld, Leader, type LeadingEngine } from './context/leader.ts';
export { hashToken, hashTokenBytes } from './context/token-hash.ts';
export { costsOf } from './costs/cost-summary.ts';
export { enforceBudgets } from './costs/enforce-budgets.ts';
export { tenantBudgets } from './costs/tenant-budgets.ts';
export { closeDeadLetter, retryDeadLetter } from './dead-letters/dead-letters.ts';
export { beginSending, type Sending, sendable } from './host-writes/begin.ts';
export { passMergeGate } from './host-writes/merge-gate.ts';
export { settle } from './host-writes/settle.ts';
export { steerProjection } from './host-writes/steer-projection.ts';
export { acceptIssueText } from './intake/accept-text.ts';
export { applyHostEvent } from './intake/host-event.ts';
export { drainInbox, Inbox, receiveDelivery } from './intake/inbox.ts';
export { ParentWatch } from './intake/parent-watch.ts';
export { pollRepo } from './intake/poll.ts';
export { allowUncheckedMerge } from './issues/allow-unchecked.ts';
export { readBlockedIssues } from './issues/blocked-issues.ts';
export { type BulkOutcome, type BulkRequest, type BulkResult, runBulkAction } from './issues/bulk-actions.ts';
export { explainIssue } from './issues/explain-issue.ts';
export { actOnIssue, type IssueAction } from './issues/issue-actions.ts';
export { findIssueKey, type IssueAddress } from './issues/issue-address.ts';
export { aggregateCounts } from './issues/issue-counts.ts';
export {
  diagnose,
  explainIssueAt,
  findIfKnown,
  issueArtefactsAt,
  issueEventsAt,
  issueStatusAt,
  retrospectiveAt,
} from './issues/issue-detail.ts';
export { type IssueQuery, issuesTag, listIssues } from './issues/list-issues.ts';
export { answerPlanOf, listPlans, type PlanAnswer } from './issues/plan-answers.ts';
export { searchIssues } from './issues/search-issues.ts';
export { noRepoContext, timelineAt, timelineOf } from './issues/timeline.ts';
export { transitionIssue, transitionTargetsOf } from './issues/transition.ts';
export { enqueueDueScans } from './knowledge/code-map.ts';
export { embedItems } from './knowledge/embed-items.ts';
export { OpenAiEmbedder } from './knowledge/embedder.ts';
export { expireIntelligence } from './knowledge/expire.ts';
export { decideOnFinding } from './knowledge/finding-status.ts';
export { decideOnItem } from './knowledge/item-status.ts';
export { listRepoFindings } from './knowledge/list-findings.ts';
export { retrieve } from './knowledge/retrieve.ts';
export { retrieveForOrg } from './knowledge/retrieve-for-org.ts';
export { LabelReconciler } from './outbox/label-reconciler.ts';
export { watchSilence } from './presence/fleet-watch.ts';
export type { Report, ReportAnswer } from './queue/apply-report.ts';
export { autoUnblock } from './queue/auto-unblock.ts';
export { claim } from './queue/claim.ts';
export { type ClaimedTask, type ClaimRequest, type ClaimToken, claimScope } from './queue/claim-types.ts';
export { type FailAnswer, type Failure, fail } from './queue/fail.ts';
export { type Heartbeat, type HeartbeatAnswer, heartbeat } from './queue/heartbeat.ts';
export { extend, start } from './queue/lease.ts';
export { type Progress, progress, recordMessages } from './queue/progress.ts';
export { reclaimExpired, reclaimStalled, releaseDue } from './queue/reclaim.ts';
export { releaseStranded } from './queue/release-stranded.ts';
export { report } from './queue/report.ts';
export { returnClaim } from './queue/return-claim.ts';
export { accessForTask, type IssuerOf } from './queue/task-access.ts';
export { readTaskQueue, type TaskQueue } from './queue/task-queue.ts';
export { checkDueProtections } from './repos/examine-repo.ts';
export { NameTakenError, putRepo } from './repos/put-repo.ts';
export { reachable } from './repos/reachable-repos.ts';
export { findRepoAmong, findRepoAt, type HostOf, type Intake, type RepoAddress } from './repos/repo-address.ts';
export { confirmRepo } from './repos/repo-identity.ts';
export { changedSettings, recordReload } from './settings/config-reloads.ts';
export { readAutomation, readRunState, setAutomation } from './strategy/automation.ts';
export { putCharter, readCharter } from './strategy/charters.ts';
export { runDueStrategies } from './strategy/cycle.ts';
export { approveStrategy, rejectStrategy } from './strategy/decide.ts';
export { listSnapshots, readSnapshot } from './strategy/snapshots.ts';
export { changeTrack } from './tracks/change-track.ts';
export { activatePrompt, addPrompt, listPrompts, readPrompt } from './tracks/prompts.ts';
export { runDueTracks } from './tracks/run-due.ts';
export type { Track } from './tracks/track-view.ts';
export {
  type FleetTrack,
  listAllTracks,
  listTracks,
  putTrack,
  removeTrack,
  updateTrackAt,
} from './tracks/tracks.ts';
export { type AgentTrouble, reconcileAgentAlerts } from './workers/agent-alerts.ts';
export {
  beginAgentRestart,
  failAgentRestart,
  forgiveAgentRestarts,
  type RestartRequest,
} from './workers/agent-restarts.ts';
export { registerWorker } from './workers/registration.ts';
export { drainWorker, reclaimFromWorker } from './workers/worker-actions.ts';
export { releaseWaiting } from './workflow/release-waiting.ts';
export { watchSla } from './workflow/sla.ts';
