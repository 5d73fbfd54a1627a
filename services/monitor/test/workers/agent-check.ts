import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { PipelineConfig } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { checkAgent, HealthWatch } from '../../src/workers/health-watch.ts';
import { type FakeAgent, says, startAgent } from './agents-world.ts';
import { database } from './database.ts';

describe('the check of agents', () => {
  let agent: FakeAgent;
  afterEach(() => agent.close());

  const look = async (answer: FakeAgent['answer'], timeoutMs = 5_000) => {
    agent = await startAgent(answer);
    return checkAgent(agent.url, timeoutMs);
  };

  describe('a look at an agent', () => {
    test('accepts its own report', async () => {
      const body = { status: 'degraded', uptime: 12, version: '2.1', currentTaskId: 'task-1', more: true };
      expect(await look(says(body))).toEqual({
        kind: 'answered',
        status: 'degraded',
        uptime: 12,
        version: '2.1',
        currentTaskId: 'task-1',
        problem: 'says "degraded"',
        configReload: null,
      });
    });

    test.each([
      ['OK', { status: 'healthy', problem: null }],
      ['', { status: 'healthy' }],
      [{ status: 'ok' }, { status: 'healthy' }],
      [['x'], { status: 'healthy' }],
      [{ status: 'on fire' }, { status: 'degraded', problem: 'says "on fire"' }],
      [
        { status: 'healthy', uptime: 'long', version: 3 },
        { status: 'healthy', uptime: null, version: null },
      ],
    ])('a good answer %j is read as %j', async (body, expected) => {
      expect(await look(says(body))).toMatchObject({ kind: 'answered', ...expected });
    });

    test('an error status is a failure of an agent that is there', async () => {
      expect(await look(says('broken', 500))).toEqual({ kind: 'failed', reachable: true, problem: 'answers 500' });
    });

    test('an agent that does not answer delays no other', async () => {
      const problem = 'does not answer within 50 ms';
      expect(await look(() => undefined, 50)).toEqual({ kind: 'failed', reachable: false, problem });
    });

    test('a body without end is not read to its end', async () => {
      const endless: FakeAgent['answer'] = (_request, response) => {
        const write = (): void => {
          while (response.write('x'.repeat(60_000))) if (response.destroyed) return;
        };
        response.on('drain', write);
        write();
      };
      expect(await look(endless)).toMatchObject({ kind: 'failed', problem: 'response larger than 65536 bytes' });
    });

    test('an agent is absent where nothing listens', async () => {
      agent = await startAgent(says('OK'));
      await agent.close();
      expect(await checkAgent(agent.url, 5_000)).toMatchObject({
        kind: 'absent',
        problem: expect.stringMatching('ECONNREFUSED'),
      });
    });
  });

  test('all agents are looked at; one that is down spoils no other, and a monitor without an address is left out', async () => {
    agent = await startAgent(says({ status: 'healthy', version: '1' }));
    const gone = await startAgent(says('OK'));
    await gone.close();
    let time = 1_000;
    const agents = PipelineConfig.parse({
      agents: { monitor: {}, developer: { url: agent.url }, reviewer: { url: gone.url } },
    }).agents;
    const watch = new HealthWatch({ agents, log: silentLogger, now: () => new Date(time) });
    expect(watch.seen()).toEqual([]);
    for (const next of [2_000, 3_000, 4_000]) {
      await watch.tick();
      time = next;
    }
    expect(watch.seen()).toEqual([
      {
        agentName: 'developer',
        reachable: true,
        timestamp: 3_000,
        responseTimeMs: expect.any(Number),
        health: expect.objectContaining({ status: 'healthy', version: '1' }),
        healthySince: 1_000,
        configReload: null,
      },
      expect.objectContaining({
        agentName: 'reviewer',
        reachable: false,
        health: expect.objectContaining({ status: 'stopped', consecutiveFailures: 3 }),
        healthySince: null,
        configReload: null,
      }),
    ]);
  });

  afterAll(() => database.clear());
});
