import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { createLogger, type LoggerOptions } from '../src/index.ts';

function sink() {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  const lines = () =>
    chunks
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { stream, lines };
}

const make = (options: Partial<LoggerOptions> = {}) => {
  const out = sink();
  return { ...out, log: createLogger({ process: 'monitor', stream: out.stream, ...options }) };
};

describe('createLogger', () => {
  test('writes one JSON line with timestamp, level, msg and the name of the process', async () => {
    const { log, lines } = make({ now: () => new Date('2026-01-02T03:04:05.678Z') });
    log.info('started', { port: 1 });
    await log.close();
    expect(lines()).toEqual([
      { timestamp: '2026-01-02T03:04:05.678Z', level: 'info', msg: 'started', agent: 'monitor', port: 1 },
    ]);
  });

  test('keeps the order of levels and reports which are on', async () => {
    const { log, lines } = make({ level: 'warn' });
    for (const level of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[level](level);
    await log.close();
    expect(lines().map((line) => line.level)).toEqual(['warn', 'error', 'fatal']);
    expect([log.isEnabled('info'), log.isEnabled('fatal')]).toEqual([false, true]);
  });

  test('hides secrets by the name of their key, at any depth, and leaves counts of tokens alone', async () => {
    const { log, lines } = make();
    log.info('call', { headers: { Authorization: 'Basic eA==', cookie: 'a=b' }, claimToken: 't', inputTokens: 7 });
    await log.close();
    expect(lines()[0]).toMatchObject({
      headers: { Authorization: '[redacted]', cookie: '[redacted]' },
      claimToken: '[redacted]',
      inputTokens: 7,
    });
  });

  test('spells out the errors of an aggregate, each with its cause', async () => {
    const { log, lines } = make();
    log.error('no', { error: new AggregateError([new Error('row 1', { cause: new Error('locked') })], '1 of 2') });
    await log.close();
    expect(lines()[0]?.error).toMatchObject({
      message: '1 of 2',
      errors: [{ message: 'row 1', cause: { message: 'locked' } }],
    });
  });

  test('spells out errors with their causes', async () => {
    const { log, lines } = make();
    log.error('no', { error: new Error('outer', { cause: new TypeError('inner') }) });
    await log.close();
    expect(lines()[0]?.error).toMatchObject({ message: 'outer', cause: { name: 'TypeError', message: 'inner' } });
  });

  test('survives cycles, big integers and getters that throw', async () => {
    const { log, lines } = make();
    const cyclic: Record<string, unknown> = { big: 1n };
    cyclic.self = cyclic;
    Object.defineProperty(cyclic, 'bad', {
      enumerable: true,
      get() {
        throw new Error('no');
      },
    });
    log.warn('odd', { cyclic });
    await log.close();
    expect(lines()[0]?.cyclic).toEqual({ big: '1', self: '[circular]', bad: '[unreadable]' });
  });

  test('a field cannot pass for the level, the time or the message', async () => {
    const { log, lines } = make();
    log.info('real', { level: 'fatal', msg: 'forged', timestamp: 'x', agent: 'other' });
    await log.close();
    expect(lines()[0]).toMatchObject({ level: 'info', msg: 'real', agent: 'monitor' });
  });

  test('closing twice and writing afterwards do no harm', async () => {
    const { log, lines } = make();
    log.info('before');
    await Promise.all([log.close(), log.close()]);
    await log.close();
    log.info('after');
    expect(lines().map((line) => line.msg)).toEqual(['before']);
  });

  test('a child adds its fields to every line', async () => {
    const { log, lines } = make();
    log.child({ requestId: 'r1' }).info('hello', { n: 1 });
    await log.close();
    expect(lines()[0]).toMatchObject({ requestId: 'r1', n: 1 });
  });

  test('writes <process>.log where a directory is given', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'log-'));
    const { log, lines } = make({ dir });
    log.info('to both');
    await log.close();
    expect(JSON.parse(await readFile(join(dir, 'monitor.log'), 'utf8'))).toEqual(lines()[0]);
  });

  test('continues, and reports the problem, when the directory cannot be used', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'log-')), 'plain-file');
    await writeFile(file, '');
    const { log, lines } = make({ dir: join(file, 'sub') });
    log.info('still here');
    await log.close();
    expect(lines().map((line) => line.msg)).toEqual([
      'log file cannot be written; lines go to stdout only',
      'still here',
    ]);
  });
});
