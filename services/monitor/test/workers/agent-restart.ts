import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type PipelineConfig, type Settings } from '@pipeline/domain';
import { Leader } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { auditEntries, type Notifications, reloadReports } from '@pipeline/store';
import { registerAgentMetrics } from '../../src/workers/agent-metrics.ts';
import { createAgents } from '../../src/workers/agents.ts';
import { restartContainer } from '../../src/workers/restart-docker.ts';
import { restartByPid } from '../../src/workers/restart-pid.ts';
import { engineOn } from '../support/bench.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { type FakeAgent, type FakeDocker, makeFolder, says, startAgent, startDocker } from './agents-world.ts';
import { database } from './database.ts';

describe('restarts of agents', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  let files: ReturnType<typeof makeFolder>;
  let docker: FakeDocker;
  let agent: FakeAgent;
  let notifications: Notifications;
  let time = START;
  const children: ChildProcess[] = [];

  const at = (seconds: number): void => {
    time = START + seconds * 1_000;
    database.clock.now = new Date(time);
  };

  beforeEach(async () => {
    at(0);
    await database.db.deleteFrom('agent_restarts').execute();
    await database.db.deleteFrom('audit_log').execute();
    await database.db.deleteFrom('alerts').execute();
    files = makeFolder();
    docker = await startDocker(files.folder, ['developer-1']);
    agent = await startAgent(says('down', 503));
    notifications = await connectedDoorbell(database.url);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all([docker.close(), agent.close(), notifications.close()]);
    files.remove();
  });

  interface Given {
    selfHealing?: Partial<Settings['selfHealing']>;
    agents?: PipelineConfig['agents'];
    agent?: { pidFile?: string; container?: string };
    bell?: Notifications;
    processes?: Parameters<typeof restartByPid>[1];
  }

  /** The agents of one monitor, and a round of its loops. */
  function monitor(given: Given = {}) {
    const selfHealing = { ...DEFAULT_SETTINGS.selfHealing, autoRestart: true, restartStrategy: 'docker' as const };
    const agents: PipelineConfig['agents'] = {
      developer: { url: agent.url, ...(given.agent ?? { container: 'developer-1' }) },
    };
    const made = createAgents({
      engine: engineOn(database.store, { selfHealing: { ...selfHealing, ...given.selfHealing } }),
      agents: given.agents ?? agents,
      leader: new Leader(given.bell ?? notifications),
      dockerHost: docker.dockerHost,
      processes: given.processes ?? process,
      log: silentLogger,
      now: () => new Date(time),
    });
    const round = async (times = 1): Promise<void> => {
      for (let done = 0; done < times; done += 1) {
        await made.watch.tick();
        await made.restarter.tick();
        await made.restarter.landed();
      }
      // What the last round did is seen by the next.
      await made.restarter.tick();
    };
    return { ...made, round };
  }

  const alerts = async () => {
    const open = database.db.selectFrom('alerts').select(['severity', 'message']).where('resolved_at', 'is', null);
    return (await open.orderBy('fingerprint').execute()).map(({ severity, message }) => `${severity}: ${message}`);
  };
  const audit = async () =>
    (await auditEntries(database.store.db, 50)).reverse().map(({ action, reason }) => `${action}: ${reason}`);

  test('stores and shows the reload that an agent reports; a failed one is an alert until a good one', async () => {
    await database.db.deleteFrom('config_reloads').execute();
    const { watch, tellReloads, snapshots } = monitor();
    const failed = {
      status: 'failed',
      appliedKeys: [],
      deferredKeys: [],
      error: 'model: is no key here',
      errorCode: 'CONFIG_VALIDATION_FAILED',
      trigger: 'watch',
      at: '2026-03-01T00:00:00.000Z',
    };
    const reports = async (configReload: unknown) => {
      agent.answer = says({ status: 'healthy', configReload });
      await watch.tick();
      await tellReloads();
      await tellReloads();
    };
    await reports({ status: 'nonsense' });
    expect(await reloadReports(database.store.db)).toEqual([]);
    await reports(failed);
    expect(snapshots()[0]).toMatchObject({ configReload: failed });
    expect(await reloadReports(database.store.db)).toEqual([
      { agentName: 'developer', instance: 'agent', outcome: failed },
    ]);
    const message = 'warning: configuration reload of developer agent failed: model: is no key here';
    expect(await alerts()).toEqual([message]);
    const later = { ...failed, status: 'applied', error: null, errorCode: null, at: '2026-03-01T00:01:00.000Z' };
    await reports(later);
    expect(await alerts()).toEqual([]);
    await reports(undefined);
    expect(snapshots()[0]).toMatchObject({ configReload: later });
  });

  describe('restart of an agent', () => {
    test('comes with the third bad look, is recorded with who and why, and waits for the cooldown', async () => {
      const { round, snapshots } = monitor();
      await round(2);
      expect(docker.asked).toEqual([]);
      await round(3);
      expect(docker.asked).toEqual(['POST /containers/developer-1/restart']);
      expect(snapshots()[0]).toMatchObject({ restarts: 1, lastRestartAt: '2026-03-01T00:00:00.000Z' });
      expect(await auditEntries(database.store.db, 5)).toMatchObject([
        {
          actor_type: 'system',
          actor_id: 'self-healing',
          action: 'agent-restart',
          subject: 'agent developer',
          reason: 'unhealthy at 3 looks in a row: answers 503',
          details: { how: 'docker restart of developer-1', attempt: 1, maxAttempts: 3 },
        },
      ]);
      at(299);
      await round();
      expect(docker.asked).toHaveLength(1);
      at(300);
      await round();
      expect(docker.asked).toHaveLength(2);
    });

    test('a monitor that restarts keeps to the cooldown and the attempts', async () => {
      await monitor({ selfHealing: { maxRestartAttempts: 2 } }).round(3);
      await notifications.close();
      notifications = await connectedDoorbell(database.url);
      const next = monitor({ selfHealing: { maxRestartAttempts: 2 } });
      await next.round(3);
      expect(docker.asked).toHaveLength(1);
      at(300);
      await next.round();
      at(600);
      await next.round();
      expect(docker.asked).toHaveLength(2);
    });

    test('attempts come back only after the agent was healthy for ten minutes', async () => {
      const { round } = monitor({ selfHealing: { maxRestartAttempts: 1 } });
      await round(3);
      agent.answer = says({ status: 'healthy' });
      await round();
      at(599);
      await round();
      agent.answer = says('down', 503);
      await round(3);
      expect(docker.asked).toHaveLength(1);
      agent.answer = says({ status: 'healthy' });
      await round();
      at(599 + 600);
      await round();
      agent.answer = says('down', 503);
      await round(3);
      expect(docker.asked).toHaveLength(2);
      expect(await audit()).toContain('agent-recovered: it stayed healthy');
    });

    test('an agent that is down is an alert until it answers again; more than its attempts is another', async () => {
      const { round } = monitor({ selfHealing: { maxRestartAttempts: 1 } });
      await round(2);
      expect(await alerts()).toEqual([]);
      await round(2);
      expect(await alerts()).toEqual(['warning: agent developer is down: unhealthy, answers 503']);
      at(300);
      await round();
      expect(await alerts()).toEqual([
        'warning: agent developer is down: unhealthy, answers 503',
        'critical: a restart did not repair agent developer: it was restarted 1× and is still down',
      ]);
      agent.answer = says({ status: 'healthy' });
      await round();
      expect(await alerts()).toEqual([]);
    });

    test('a monitor that has not looked yet takes no alert back; one without the agent does', async () => {
      const first = monitor();
      await first.round(4);
      const before = await alerts();
      expect(before).toHaveLength(1);
      await notifications.close();
      notifications = await connectedDoorbell(database.url);
      await monitor().restarter.tick();
      expect(await alerts()).toEqual(before);
      await notifications.close();
      notifications = await connectedDoorbell(database.url);
      await monitor({ agents: {} }).restarter.tick();
      expect(await alerts()).toEqual([]);
    });

    test('two monitors that both believe to lead restart it once', async () => {
      // Both act in the term of one session, as when it is lost and nobody has noticed yet.
      const monitors = [monitor(), monitor()];
      for (const { watch } of monitors) for (let look = 0; look < 3; look += 1) await watch.tick();
      await Promise.all(monitors.map(({ restarter }) => restarter.tick()));
      await Promise.all(monitors.map(({ restarter }) => restarter.landed()));
      expect(docker.asked).toHaveLength(1);
    });

    test('only the monitor that leads restarts', async () => {
      const other = await connectedDoorbell(database.url);
      await monitor().round(1);
      const second = monitor({ bell: other });
      await second.round(3);
      expect(docker.asked).toEqual([]);
      await other.close();
    });

    test.each<[string, Given]>([
      ['it is switched off', { selfHealing: { autoRestart: false } }],
      ['no attempt is allowed', { selfHealing: { maxRestartAttempts: 0 } }],
      ['the agent names nothing for the strategy', { agent: { pidFile: '/nowhere' } }],
    ])('none while %s', async (_why, given) => {
      await monitor(given).round(4);
      expect(docker.asked).toEqual([]);
      expect(await audit()).toEqual([]);
    });

    test('one that fails is reported, counts, and does not end the loop', async () => {
      const { round, restarter } = monitor({ agent: { container: 'gone' } });
      await round(3);
      await restarter.tick();
      const reason = 'the Docker engine did not restart gone: 404 No such container: gone';
      expect(await audit()).toContain(`agent-restart-failed: ${reason}`);
      expect(await alerts()).toEqual([
        'warning: agent developer is down: unhealthy, answers 503',
        `critical: a restart did not repair agent developer: ${reason}`,
      ]);
      expect(restarter.restartsOf('developer')).toMatchObject({ restarts: 1, lastError: reason });
      at(300);
      await round();
      expect(docker.asked).toHaveLength(2);
    });

    test('the gauges say who is up', async () => {
      const { round, snapshots } = monitor({ selfHealing: { autoRestart: false } });
      const { registry } = createMetrics();
      registerAgentMetrics(registry, snapshots);
      const up = async () => /^svc_agent_up\{agent="developer"\} (\d)$/m.exec(await registry.metrics())?.[1];
      expect(await up()).toBeUndefined();
      await round(2);
      expect(await up()).toBe('1');
      await round();
      expect(await up()).toBe('0');
      expect(await registry.metrics()).toMatch(/^svc_agent_response_seconds\{agent="developer"\} [\d.]+$/m);
    });

    test('a restart by pid sends SIGTERM to the process', async () => {
      const child = await startChild();
      const pidFile = files.file('agent.pid', `${child.pid}\n`);
      const ended = once(child, 'exit');
      await monitor({ selfHealing: { restartStrategy: 'pid' }, agent: { pidFile } }).round(3);
      expect(await ended).toEqual([null, 'SIGTERM']);
      expect(await audit()).toHaveLength(1);
    });
  });

  async function startChild(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); console.log("up")'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    if (child.stdout) await once(child.stdout, 'data');
    return child;
  }

  describe('a pid file', () => {
    const refused = async (text: string, message: RegExp) => {
      const sent: [number, string | 0][] = [];
      const processes = {
        pid: 41,
        ppid: 40,
        kill: (pid: number, signal: NodeJS.Signals | 0) => !!sent.push([pid, signal]),
      };
      await expect(restartByPid(files.file('x.pid', text), processes)).rejects.toThrow(message);
      expect(sent).toEqual([]);
    };

    test.each([
      ['', /must contain a process id, got ""/],
      ['0', /must contain a process id/],
      ['-7', /must contain a process id, got "-7"/],
      ['12 13', /must contain a process id/],
      ['abc', /must contain a process id/],
      ['99999999999', /must contain a process id/],
      ['1\n', /process id 1, the init process/],
      ['41', /which is the monitor/],
      ['40', /its parent process/],
    ])('sends no signal for a pid file with %j', refused);

    test('reports a pid file that does not exist, or names no live process', async () => {
      await expect(restartByPid(`${files.folder}/none.pid`, process)).rejects.toThrow(/cannot be read: ENOENT/);
      const child = await startChild();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      const stale = files.file('stale.pid', String(child.pid));
      await expect(restartByPid(stale, process)).rejects.toThrow(`process ${child.pid} of ${stale} does not run`);
    });
  });

  describe('the Docker engine', () => {
    test('unreachable, or not allowed, is reported with its address', async () => {
      await expect(restartContainer('unix:///nowhere/docker.sock', 'x')).rejects.toThrow(
        'the Docker engine at unix:///nowhere/docker.sock is not there (no such socket)',
      );
      await expect(restartContainer('tcp://127.0.0.1:1', 'x')).rejects.toThrow(
        /at tcp:\/\/127.0.0.1:1 was not reached: .*ECONNREFUSED/,
      );
    });

    test('over http too; a name cannot leave its place in the path', async () => {
      const asked: string[] = [];
      const engine = await startAgent((request, response) => {
        asked.push(request.url ?? '');
        response.writeHead(204).end();
      });
      await restartContainer(engine.url.replace('/health', ''), '../../images/x?force=1');
      expect(asked).toEqual(['/containers/..%2F..%2Fimages%2Fx%3Fforce%3D1/restart']);
      await engine.close();
    });

    test('gives up when the engine does not answer', async () => {
      const engine = await startAgent(() => undefined);
      const late = restartContainer(engine.url, 'x', AbortSignal.timeout(50));
      await expect(late).rejects.toThrow(/did not answer in time/);
      await engine.close();
    });
  });

  afterAll(() => database.clear());
});
