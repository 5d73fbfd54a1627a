import { STATES, TASK_TYPES } from '@pipeline/domain';

const AT = '2026-01-02T03:04:05.678Z';
const NOW = '2026-01-02T03:20:00.000Z';

const repo = {
  id: 7,
  slug: 'acme/shop',
  owner: 'acme',
  name: 'shop',
  defaultBranch: 'main',
  vcsHost: 'github',
  enabled: true,
};

export const bootstrapExample = {
  org: { id: 1, slug: 'acme', name: 'Acme Inc', createdAt: '2026-01-01T00:00:00.000Z' },
  repos: [repo],
  repo: null,
  pipelineStore: {
    kind: 'postgres',
    connected: true,
    schemaVersion: '0013-issue-lists',
    host: null,
    port: null,
    database: null,
    sslMode: null,
  },
  monitorUrl: 'https://monitor.example.org',
  viewer: { userId: '3', login: 'ann@example.org', role: 'member', scopes: ['pipeline:read'] },
  serverTimestamp: NOW,
};

export const issuesExample = {
  items: [
    {
      issueNumber: 7,
      title: 'Add a table of contents',
      url: 'https://github.com/acme/shop/issues/7',
      state: 'in-review',
      isBlocked: false,
      isPaused: false,
      blockReason: null,
      blockClassification: null,
      stateEnteredAt: AT,
      currentStatus: 'reading the diff',
      activeTaskType: 'review',
      assignedAgent: 'reviewer',
      prNumber: 9,
      labels: ['docs', 'svc:in-review'],
      parentIssueNumber: null,
      dependsOn: [3],
      costUsd: 0.25,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: AT,
    },
  ],
  page: { total: 1, limit: 100, offset: 0, hasMore: false },
};

export const whyExample = {
  repo: 'acme/shop',
  issueNumber: 7,
  title: 'Add a table of contents',
  state: 'in-review',
  stateEnteredAt: AT,
  isBlocked: false,
  isPaused: false,
  blockReason: null,
  blockClassification: null,
  blockedFromState: null,
  explanation:
    'acme/shop#7 is in review and waits for a free worker to claim its review task (attempt 1 of 3), since 2026-01-02 03:04 UTC.',
  waitingOn: [
    { kind: 'worker', ref: null, detail: 'a free worker to claim its review task (attempt 1 of 3)', since: AT },
  ],
  recentTransitions: [
    {
      from: 'ready-for-dev',
      to: 'in-review',
      at: AT,
      agent: 'developer',
      actorType: 'agent',
      actorId: 'wkr_1',
      reason: null,
      forced: false,
      durationInFromMs: 184_000,
    },
  ],
  lastError: null,
  activeTasks: [{ taskType: 'review', status: 'pending', claimedBy: null }],
  recommendations: ['Start a worker for this task type if none becomes free.'],
  textChange: null,
  serverTimestamp: NOW,
};

const zeros = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, 0]));

export const overviewExample = {
  repo: 'acme/shop',
  openIssues: 1,
  issuesByState: { ...zeros(STATES), 'in-review': 1 },
  queueDepth: { total: 1, byTaskType: { ...zeros(TASK_TYPES), review: 1 } },
  inFlightTasks: [],
  workerPool: {
    repo: 'acme/shop',
    total: 1,
    idle: 1,
    busy: 0,
    draining: 0,
    offline: 0,
    utilizationPct: 0,
    queueDepth: 1,
    oldestPendingAgeMs: 954_322,
    lastHeartbeat: '2026-01-02T03:19:58.000Z',
    degradedSince: null,
    workers: [
      {
        id: 'wkr_1',
        status: 'idle',
        taskType: null,
        issueNumber: null,
        lastHeartbeat: '2026-01-02T03:19:58.000Z',
        lastClaimAt: null,
      },
    ],
  },
  blockedIssues: [],
  recentFailures: [],
  cost: { last24hUsd: 0.25, last7dUsd: 0.25, last30dUsd: 0.25, lifetimeUsd: 0.25, todayUsd: 0.25 },
  dlqDepth: 0,
  vcsWriteQueueDepth: 0,
  vcsWriteQueueFailed: 0,
  truncated: false,
  serverTimestamp: NOW,
};
