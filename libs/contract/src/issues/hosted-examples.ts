const AT = '2026-01-02T03:04:05.678Z';
const NOW = '2026-01-02T03:20:00.000Z';

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
