import { authRoutes } from './accounts/monitor.ts';
import { auditRoutes } from './accounts/monitor-audit.ts';
import { alertRoutes } from './alerts/monitor.ts';
import { digestRoutes } from './alerts/monitor-digest.ts';
import { regressionGuardRoutes } from './alerts/monitor-regression-guard.ts';
import { analyticsRoutes } from './analytics/monitor.ts';
import { dashboardRoutes } from './analytics/monitor-dashboard.ts';
import { metricDefinitionRoutes } from './analytics/monitor-metric-definitions.ts';
import { staticRoutes } from './analytics/monitor-pages.ts';
import { consistencyRoutes } from './consistency/monitor.ts';
import { consistencyCountRoutes } from './consistency/monitor-counts.ts';
import { deadLetterRoutes } from './dead-letters/monitor.ts';
import { issueRoutes } from './issues/monitor.ts';
import { issueActionRoutes } from './issues/monitor-actions.ts';
import { blockedIssueRoutes } from './issues/monitor-blocked.ts';
import { bulkActionRoutes } from './issues/monitor-bulk-actions.ts';
import { issueDetailRoutes } from './issues/monitor-detail.ts';
import { planRoutes } from './issues/monitor-plans.ts';
import { timelineRoutes } from './issues/monitor-timeline.ts';
import { artefactRoutes } from './knowledge/monitor-artefacts.ts';
import { findingRoutes } from './knowledge/monitor-findings.ts';
import { intelligenceRoutes } from './knowledge/monitor-intelligence.ts';
import { logRoutes } from './logs/monitor.ts';
import { projectionRoutes } from './outbox/monitor.ts';
import { taskQueueRoutes } from './queue/monitor.ts';
import { queueRoutes } from './queue/monitor-depth.ts';
import { repoRoutes } from './repos/monitor.ts';
import { configRoutes } from './settings/monitor.ts';
import { strategyRoutes } from './strategy/monitor.ts';
import { eventRoutes } from './stream/monitor.ts';
import { trackRoutes } from './tracks/monitor.ts';
import { trackPromptRoutes } from './tracks/monitor-prompts.ts';
import { siTrackRoutes } from './tracks/monitor-si-tracks.ts';
import { healthRoutes } from './wire/health.ts';
import { defineSurface, type PathFallback } from './wire/surface.ts';
import { CONTRACT_VERSION } from './wire/version.ts';
import { missingAsset } from './wire/web-files.ts';
import { workerOperationRoutes } from './workers/monitor.ts';

/** Fallback error for a path with too few or too many segments. */
const expected = (prefix: PathFallback['prefix'], form: string, suffix?: `/${string}`): PathFallback => ({
  prefix,
  ...(suffix !== undefined && { suffixes: [suffix] }),
  methods: ['get'],
  refusal: { code: 'INVALID_INPUT', message: `Expected ${form}${suffix ?? ''}` },
});

/** Surface B: the monitor API for operators. */
export const monitorSurface = defineSurface({
  name: 'monitor',
  title: 'Pipeline monitor API',
  version: CONTRACT_VERSION,
  description:
    'Observability of the pipeline and the actions of its operators: issues, queue, workers, tracks, strategy, configuration, metrics and the event stream.',
  tags: [
    { name: 'Service', description: 'Health, readiness and the OpenAPI document.' },
    { name: 'Session', description: 'Login, logout and session status.' },
    { name: 'Audit', description: 'Who did what, when and why; as a list, as CSV and as JSON.' },
    { name: 'Issues', description: 'Issue state, explanation, events and timeline.' },
    {
      name: 'Issue actions',
      description: 'Operator actions on issues: pause, resume, unblock, retry, cancel, transition.',
    },
    { name: 'Observability', description: 'Blocked issues, regressions, the daily digest and metric definitions.' },
    { name: 'Findings', description: 'Observations reported by agents, and their triage.' },
    { name: 'Intelligence', description: 'Knowledge items about repos, and their retrieval for agent tasks.' },
    { name: 'Dead letters', description: 'State transitions that failed permanently.' },
    { name: 'Consistency', description: 'Contradicting records, and their repair.' },
    { name: 'Projections', description: 'Queued writes to the version-control host.' },
    {
      name: 'Analytics',
      description: 'Pipeline analytics over time: states, throughput, autonomy, cost, reliability.',
    },
    { name: 'Queue', description: 'Task queue and its depth.' },
    { name: 'Workers', description: 'Workers and worker control.' },
    { name: 'Tracks', description: 'Self-improvement tracks and their prompt versions.' },
    { name: 'Strategy', description: 'Strategy snapshots, charters and automation of self-improvement.' },
    { name: 'Event stream', description: 'Real-time events.' },
    { name: 'Logs', description: 'Process logs and agent messages.' },
    { name: 'Alerts', description: 'Open and resolved alerts.' },
    { name: 'Repos', description: 'Repositories of the pipeline: list, add, enable, disable, remove.' },
    { name: 'Config', description: 'Current configuration and its reload.' },
    { name: 'Dashboard', description: 'Dashboard data, the dashboard pages and the metrics endpoint.' },
  ],
  routes: [
    ...healthRoutes,
    ...authRoutes,
    ...auditRoutes,
    ...bulkActionRoutes,
    ...dashboardRoutes,
    ...issueActionRoutes,
    ...planRoutes,
    ...findingRoutes,
    ...intelligenceRoutes,
    ...issueRoutes,
    ...issueDetailRoutes,
    ...artefactRoutes,
    ...timelineRoutes,
    ...analyticsRoutes,
    ...deadLetterRoutes,
    ...consistencyRoutes,
    ...consistencyCountRoutes,
    ...projectionRoutes,
    ...blockedIssueRoutes,
    ...regressionGuardRoutes,
    ...digestRoutes,
    ...queueRoutes,
    ...taskQueueRoutes,
    ...workerOperationRoutes,
    ...trackRoutes,
    ...trackPromptRoutes,
    ...siTrackRoutes,
    ...strategyRoutes,
    ...eventRoutes,
    ...logRoutes,
    ...alertRoutes,
    ...configRoutes,
    ...repoRoutes,
    ...metricDefinitionRoutes,
    ...staticRoutes,
  ],
  fallbacks: [
    missingAsset,
    { prefix: '/api/issues/', methods: ['post'], refusal: { code: 'NOT_FOUND', message: 'Not found' } },
    {
      prefix: '/api/issues/',
      suffixes: ['/valid-transitions', '/why', '/digest', '/status', '/events'],
      methods: ['get'],
      refusal: { code: 'NOT_FOUND', message: 'Not found' },
    },
    expected('/api/issues/', '/api/issues/:owner/:repo/:issue', '/retrospective'),
    expected('/api/issues/', '/api/issues/:owner/:repo/:issue', '/artefacts'),
    expected('/api/issues/', '/api/issues/:owner/:repo/:issue', '/findings'),
    expected('/api/runs/', '/api/runs/:runId', '/artefacts'),
    expected('/api/timeline/', '/api/timeline/:owner/:repo/:issue'),
    {
      prefix: '/api/intelligence/',
      suffixes: ['/'],
      methods: ['get'],
      refusal: { code: 'INVALID_INPUT', message: 'id: must not be empty' },
    },
    {
      prefix: '/api/projections/',
      suffixes: ['/retry', '/discard'],
      methods: ['post'],
      refusal: { code: 'INVALID_INPUT', message: 'Invalid request' },
    },
  ],
  requireJsonType: false,
  hostCheck: true,
  unknownPathAuth: ['operator'],
});
