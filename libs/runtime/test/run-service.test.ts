import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { listenOn, sleep } from '../src/index.ts';

const FIXTURE = fileURLToPath(new URL('./fixtures/service.ts', import.meta.url));

function launch(env: Record<string, string>) {
  const child = spawn(process.execPath, [FIXTURE], { env: { PATH: process.env.PATH, ...env } });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const exited = once(child, 'close').then(([code]) => ({ code: code as number, out, err }));
  const said = async (text: string) => {
    while (!out.includes(text)) {
      if (child.exitCode !== null) throw new Error(`exited before it said ${text}: ${out}${err}`);
      await Promise.race([once(child.stdout, 'data'), exited]);
    }
    return out;
  };
  return { child, exited, said };
}

describe('runService', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s with code 0', async (signal) => {
    const { child, exited, said } = launch({ MODE: 'good' });
    await said('ready');
    child.kill(signal);
    const { code, out } = await exited;
    expect(code).toBe(0);
    expect(out).toContain('"msg":"stopped"');
  });

  test('ends with 1 when a part does not stop within the deadline', async () => {
    const { child, exited, said } = launch({ MODE: 'stuck' });
    await said('ready');
    child.kill('SIGTERM');
    const { code, out } = await exited;
    expect(code).toBe(1);
    expect(out).toContain('stopping took longer than 300 ms');
  });

  test('a second signal ends it at once, but not the copy of the first that npm passes on', async () => {
    const { child, exited, said } = launch({ MODE: 'slow' });
    await said('ready');
    child.kill('SIGTERM');
    await said('"msg":"stopping"');
    child.kill('SIGINT');
    // The process measures real time; a copy comes within milliseconds.
    await sleep(1_100);
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');
    const { code, out } = await exited;
    expect(code).toBe(1);
    expect(out).not.toContain('took longer');
  });

  test('a bad environment is one line for each variable on stderr, and code 78', async () => {
    const { code, err } = await launch({ MODE: 'odd', LOG_LEVEL: 'loud' }).exited;
    expect(code).toBe(78);
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(/^fixture: LOG_LEVEL: must be one of/),
      expect.stringMatching(/^fixture: MODE: .*"odd"$/),
    ]);
  });

  test('a taken port names the variable that moves it', async () => {
    const server = createServer();
    const { port } = new URL(await listenOn(server, { host: '127.0.0.1', port: 0, variable: 'PORT' }));
    const { code, err } = await launch({ MODE: 'good', PORT: port }).exited;
    server.close();
    expect(code).toBe(78);
    expect(err).toBe(`port ${port} on 127.0.0.1 is in use; set PORT to another one\n`);
  });

  test.each([
    ['throws', 'cannot start'],
    ['rejects', 'forgotten'],
  ])('a failure (%s) is logged as fatal and ends with 1', async (MODE, message) => {
    const { code, out } = await launch({ MODE }).exited;
    expect(code).toBe(1);
    expect(out).toContain('"level":"fatal"');
    expect(out).toContain(message);
  });

  test.each([
    ['127.0.0.1', {}],
    ['127.0.0.1', { METRICS_HOST: 'localhost' }],
  ])('serves metrics on METRICS_PORT of %s', async (host, env) => {
    const { child, exited, said } = launch({ MODE: 'good', METRICS_PORT: '0', ...env });
    const out = await said('ready');
    const url = /http:\/\/[^"]+\/metrics/.exec(out)?.[0] ?? '';
    const text = await (await fetch(url)).text();
    child.kill('SIGTERM');
    expect(new URL(url).hostname).toBe(host);
    expect(text).toContain('svc_loop_runs_total{loop="idle",outcome="ok"}');
    expect((await exited).code).toBe(0);
  });
});
