import { authRoutes } from './accounts/monitor.ts';
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
import { timelineRoutes } from './issues/monitor-timeline.ts';
import { artefactRoutes } from './knowledge/monitor-artefacts.ts';
import { findingRoutes } from './knowledge/monitor-findings.ts';
import { intelligenceRoutes } from './knowledge/monitor-intelligence.ts';
import { logRoutes } from './logs/monitor.ts';
import { projectionRoutes } from './outbox/monitor.ts';
import { taskQueueRoutes } from './queue/monitor.ts';
import { queueRoutes } from './queue/monitor-depth.ts';
import { configRoutes } from './settings/monitor.ts';
import { strategyRoutes } from './strategy/monitor.ts';
import { eventRoutes } from './stream/monitor.ts';
import { trackRoutes } from './tracks/monitor.ts';
import { trackPromptRoutes } from './tracks/monitor-prompts.ts';
import { siTrackRoutes } from './tracks/monitor-si-tracks.ts';
import { healthRoutes } from './wire/health.ts';
import { defineSurface, type PathFallback } from './wire/surface.ts';
import { CONTRACT_VERSION } from './wire/version.ts';
import { workerOperationRoutes } from './workers/monitor.ts';

/** How a family answers a path with too few or too many segments. */
const expected = (prefix: PathFallback['prefix'], form: string, suffix?: `/${string}`): PathFallback => ({
  prefix,
  ...(suffix !== undefined && { suffixes: [suffix] }),
  methods: ['get'],
  refusal: { code: 'INVALID_INPUT', message: `Expected ${form}${suffix ?? ''}` },
});

/** Surface B: what operators see and do. */
export const monitorSurface = defineSurface({
  name: 'monitor',
  title: 'Pipeline monitor API',
  version: CONTRACT_VERSION,
  description: 'What the pipeline is doing, and the actions that mend it.',
  tags: [
    { name: 'Service', description: 'The process itself.' },
    { name: 'Session', description: 'Logging in and out.' },
    { name: 'Issues', description: 'Where issues are, why, and what happened to them.' },
    { name: 'Issue actions', description: 'What an operator can do to an issue.' },
    { name: 'Observability', description: 'What stands, and how it all goes.' },
    { name: 'Findings', description: 'What agents noticed, and what is made of it.' },
    { name: 'Intelligence', description: 'What is known of a repo, and what agents are given of it.' },
    { name: 'Dead letters', description: 'Transitions that failed for good.' },
    { name: 'Consistency', description: 'Records that contradict each other.' },
    { name: 'Projections', description: 'What is to be written to the host.' },
    { name: 'Analytics', description: 'How the pipeline has done over time.' },
    { name: 'Queue', description: 'What waits to be done.' },
    { name: 'Workers', description: 'Who does it.' },
    { name: 'Tracks', description: 'Streams of self-improvement work and what their agents are told.' },
    { name: 'Strategy', description: 'Where self-improvement is going, and how far by itself.' },
    { name: 'Event stream', description: 'What happens, as it happens.' },
    { name: 'Logs', description: 'What processes and agents said.' },
    { name: 'Alerts', description: 'What is wrong, and what was.' },
    { name: 'Config', description: 'What is in force, and reading it again.' },
    { name: 'Dashboard', description: 'The pipeline at a glance, and the pages and files for browsers.' },
  ],
  routes: [
    ...healthRoutes,
    ...authRoutes,
    ...bulkActionRoutes,
    ...dashboardRoutes,
    ...issueActionRoutes,
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
    ...metricDefinitionRoutes,
    ...staticRoutes,
  ],
  fallbacks: [
    { prefix: '/assets/', methods: ['get'], refusal: { code: 'NOT_FOUND' }, emptyBody: true },
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
