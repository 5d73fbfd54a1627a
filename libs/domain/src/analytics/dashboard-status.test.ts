import { describe, expect, test } from '@jest/globals';
import { dashboardStatus, type PipelineCondition } from './dashboard-status.ts';

const WELL: PipelineCondition = {
  isStoreConnected: true,
  severities: [],
  agents: [{ reachable: true, status: 'healthy' }],
  isFresh: true,
};

describe('dashboardStatus', () => {
  test.each<[string, Partial<PipelineCondition>, string]>([
    ['all is well', {}, 'healthy'],
    ['nothing but information', { severities: ['info'] }, 'healthy'],
    ['no agents', { agents: [] }, 'healthy'],
    ['a warning', { severities: ['info', 'warning'] }, 'degraded'],
    ['an agent that is out of reach', { agents: [{ reachable: false, status: 'degraded' }] }, 'degraded'],
    ['an agent that is unhealthy', { agents: [{ reachable: true, status: 'unhealthy' }] }, 'degraded'],
    ['polls that are late', { isFresh: false }, 'degraded'],
    ['a critical alert', { severities: ['critical'] }, 'unhealthy'],
    ['no store', { isStoreConnected: false }, 'unhealthy'],
    ['no store and late polls', { isStoreConnected: false, isFresh: false, severities: ['warning'] }, 'unhealthy'],
  ])('%s', (_what, condition, expected) => {
    expect(dashboardStatus({ ...WELL, ...condition })).toBe(expected);
  });
});
