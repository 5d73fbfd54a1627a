export { acceptIssueText } from './accept-text.ts';
export { findRepoAmong, findRepoAt, type HostOf, type RepoAddress } from './address.ts';
export * as admin from './admin/index.ts';
export { type AgentTrouble, tellOfAgents } from './agent-alerts.ts';
export { beginAgentRestart, failAgentRestart, forgiveAgentRestarts, type RestartRequest } from './agent-restarts.ts';
export { channelKey, raiseAlert, recordOutage, resolveAlert } from './alerts.ts';
export { costByModel, spendingSummary } from './analytics/costs.ts';
export { pipelineEvents } from './analytics/events.ts';
export { attribution, autonomy } from './analytics/merges.ts';
export { retrospectiveSummary, weeklyReliability } from './analytics/reliability.ts';
export type { Whose } from './analytics/scope.ts';
export { cohortFunnel, stateTimeseries, throughput } from './analytics/states.ts';
export { autoUnblock } from './auto-unblock.ts';
export { readBlockedIssues } from './blocked-issues.ts';
export { actOnMany, type BulkOutcome, type BulkRequest, type BulkResult } from './bulk-actions.ts';
export { type ClaimedTask, type ClaimRequest, claim, type Taken, type TakenTask, takeTogether } from './claim.ts';
export type { ClaimRef } from './claim-gate.ts';
export { enqueueDueScans } from './code-map.ts';
export { changedSettings, recordReload } from './config-reloads.ts';
export { type Consistency, listFindings } from './consistency/findings.ts';
export { enqueueOrphan, OrphanWatch, type OrphanWatchDeps } from './consistency/orphans.ts';
export { repairFinding, type StoreRepair } from './consistency/repairs.ts';
export { type Bell, type Engine, fencedBy, inTenant, type Unit } from './context.ts';
export { writeDailyDigest } from './daily-digest.ts';
export { dashboardMetrics } from './dashboard/pipeline-metrics.ts';
export { type Counts, type Figures, type Live, readCounts, readFigures, readLive } from './dashboard/readings.ts';
export { type AgentWork, agentWork, pipelineSummary } from './dashboard/summary.ts';
export { workerPools } from './dashboard/worker-pools.ts';
export { resolveLetter, retryDeadLetter } from './dead-letters.ts';
export { type Readings, runDetectors } from './detectors.ts';
export { enforceBudgets } from './enforce-budgets.ts';
export { type FailAnswer, type Failure, fail } from './fail.ts';
export { watchSilence } from './fleet-watch.ts';
export { type Heartbeat, type HeartbeatAnswer, heartbeat } from './heartbeat.ts';
export { drainInbox, Inbox, receive } from './inbox.ts';
export { takeHostEvent } from './intake.ts';
export type { Intake } from './intake-context.ts';
export { embedItems } from './intelligence/embed-items.ts';
export { OpenAiEmbedder } from './intelligence/embedder.ts';
export { expireIntelligence } from './intelligence/expire.ts';
export { decideOnFinding } from './intelligence/move-finding.ts';
export { decideOnItem } from './intelligence/move-item.ts';
export { retrieve } from './intelligence/retrieve.ts';
export { act, type IssueAction } from './issue-actions.ts';
export { findIssueKey, type IssueAddress } from './issue-address.ts';
export { foldCounts } from './issue-counts.ts';
export { LabelWalk } from './label-walk.ts';
export { extend, start } from './lease.ts';
export { type FailedLogin, loginAudit } from './login-failures.ts';
export { ParentWatch, type ParentWatchDeps } from './parent-watch.ts';
export { hashPassword, isPasswordHash, PASSWORD_LENGTH, verifyPassword } from './passwords.ts';
export { pollRepo } from './poll.ts';
export { steerProjection } from './projections.ts';
export { checkDueProtections, checkPushProtection } from './push-protection.ts';
export { putRepo } from './put-repo.ts';
export { reachable } from './reads/bootstrap.ts';
export { costsOf } from './reads/costs.ts';
export { readDigest } from './reads/digest.ts';
export { explainIssue } from './reads/explain-issue.ts';
export { listRepoFindings } from './reads/findings.ts';
export { retrieveForOrg } from './reads/intelligence.ts';
export {
  diagnose,
  explainIssueAt,
  findIfKnown,
  issueArtefactsAt,
  issueEventsAt,
  issueStatusAt,
  retrospectiveAt,
} from './reads/issue-detail.ts';
export { type GuardedRepo, readKpis } from './reads/kpis.ts';
export { type IssueQuery, issuesTag, listIssues } from './reads/list-issues.ts';
export { type Overview, overviewOf } from './reads/overview.ts';
export { type RepoMetrics, readPipelineMetrics } from './reads/pipeline-metrics.ts';
export { type IssueQuestion, searchIssues } from './reads/search-issues.ts';
export { timelineOf } from './reads/timeline.ts';
export { noRepoContext, timelineAt } from './reads/whole-timeline.ts';
export { reclaim, reclaimExpired, reclaimStalled, releaseDue, returnClaim } from './reclaim.ts';
export { KPI_OF, watchKpis } from './regression-guard.ts';
export { releaseWaiting } from './release.ts';
export { type Report, type ReportAnswer, report } from './report.ts';
export { type CheckedDay, checkNextDay, foldSums } from './rollups.ts';
export { type Progress, progress, recordMessages } from './run-records.ts';
export { beginSending, type Sending, sendable, settle } from './settle.ts';
export { watchSla } from './sla.ts';
export { readAutomation, readRunState, setAutomation } from './strategy/automation.ts';
export { type CharterInput, putCharter, readCharter } from './strategy/charters.ts';
export { type CycleFailure, runDueStrategies } from './strategy/cycle.ts';
export { approveStrategy, rejectStrategy } from './strategy/decide.ts';
export { listSnapshots, readSnapshot } from './strategy/snapshots.ts';
export type { Actor, IssueKey } from './subject.ts';
export { accessForTask, type IssuerOf } from './task-access.ts';
export { readTaskQueue, type TaskQueue } from './task-queue.ts';
export { tenantBudgets } from './tenant-budgets.ts';
export { hashToken } from './token-hash.ts';
export { type ChangedField, changeTrack, type TrackDeed } from './tracks/change-track.ts';
export { activatePrompt, addPrompt, listPrompts, readPrompt } from './tracks/prompts.ts';
export { type RunResult, runDueTracks } from './tracks/run-due.ts';
export type { Track } from './tracks/track-view.ts';
export {
  type FleetTrack,
  listAllTracks,
  listTracks,
  putTrack,
  removeTrack,
  type TrackAddress,
  type TrackInput,
  updateTrackAt,
} from './tracks/tracks.ts';
export { targetsOf, transition } from './transition.ts';
export { drainWorker, reclaimFromWorker } from './worker-actions.ts';
export { type Registration, registerWorker } from './workers.ts';
