import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  AGENT_STATUSES,
  type AgentHealth,
  type AgentObservation,
  agentHealthAfter,
  needsRestart,
} from './agent-health.ts';

const ABSENT: AgentObservation = { kind: 'absent', problem: 'nothing listens' };
const FAILED: AgentObservation = { kind: 'failed', reachable: true, problem: 'answers 500' };
const says = (status: AgentHealth['status']): AgentObservation => ({
  kind: 'answered',
  status,
  uptime: 5,
  version: '1.0',
  currentTaskId: 't1',
  problem: null,
});
const after = (...looks: AgentObservation[]) =>
  looks.reduce<AgentHealth | null>((health, look) => agentHealthAfter(health, look), null);

describe('health of an agent', () => {
  test('an agent is degraded after one or two failures, unhealthy after the third', () => {
    expect(after(ABSENT, ABSENT)).toMatchObject({ status: 'degraded', consecutiveFailures: 2 });
    expect(after(ABSENT, ABSENT, ABSENT)).toMatchObject({ status: 'stopped', consecutiveFailures: 3 });
    expect(after(FAILED, FAILED, FAILED)).toMatchObject({ status: 'unhealthy', lastError: 'answers 500' });
  });

  test('resets the count on an answer; keeps the version during silence, but not the task', () => {
    expect(after(FAILED, FAILED, says('healthy'))).toMatchObject({ status: 'healthy', consecutiveFailures: 0 });
    expect(after(says('healthy'), FAILED)).toMatchObject({ version: '1.0', currentTaskId: null, uptime: null });
  });

  test('follows the reported status immediately, but restarts only after several checks', () => {
    expect(after(says('unhealthy'))).toMatchObject({ status: 'unhealthy' });
    expect(needsRestart(after(says('unhealthy'), says('unhealthy')) as AgentHealth)).toBe(false);
    expect(needsRestart(after(says('unhealthy'), FAILED, says('stopped')) as AgentHealth)).toBe(true);
  });

  test('an agent is never restarted while it is healthy or degraded', () => {
    const looks = fc.oneof(fc.constantFrom(ABSENT, FAILED), fc.constantFrom(...AGENT_STATUSES).map(says));
    fc.assert(
      fc.property(fc.array(looks, { minLength: 1 }), (all) => {
        const health = after(...all) as AgentHealth;
        return !needsRestart(health) || health.status === 'unhealthy' || health.status === 'stopped';
      }),
    );
  });
});
