import { healthRoutes } from '../shared/health.ts';
import { defineSurface, type PathFallback } from '../surface.ts';
import { CONTRACT_VERSION } from '../version.ts';
import { alertRoutes } from './alerts.ts';
import { analyticsRoutes } from './analytics/index.ts';
import { artefactRoutes } from './artefacts.ts';
import { authRoutes } from './auth.ts';
import { blockedIssueRoutes } from './blocked-issues.ts';
import { bulkActionRoutes } from './bulk-actions.ts';
import { configRoutes } from './config.ts';
import { consistencyRoutes } from './consistency.ts';
import { consistencyCountRoutes } from './consistency-counts.ts';
import { dashboardRoutes } from './dashboard.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { digestRoutes } from './digest.ts';
import { eventRoutes } from './events.ts';
import { findingRoutes } from './findings.ts';
import { intelligenceRoutes } from './intelligence.ts';
import { issueActionRoutes } from './issue-actions.ts';
import { issueDetailRoutes } from './issue-detail.ts';
import { issueRoutes } from './issues.ts';
import { logRoutes } from './logs.ts';
import { metricDefinitionRoutes } from './metric-definitions.ts';
import { projectionRoutes } from './projections.ts';
import { queueRoutes } from './queue.ts';
import { regressionGuardRoutes } from './regression-guard.ts';
import { siTrackRoutes } from './si-tracks.ts';
import { staticRoutes } from './static.ts';
import { strategyRoutes } from './strategy.ts';
import { taskQueueRoutes } from './task-queue.ts';
import { timelineRoutes } from './timeline.ts';
import { trackPromptRoutes } from './track-prompts.ts';
import { trackRoutes } from './tracks.ts';
import { workerOperationRoutes } from './workers.ts';

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
