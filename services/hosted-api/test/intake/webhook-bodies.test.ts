import { createHmac, randomUUID } from 'node:crypto';
import { brotliCompressSync, constants } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { checkAnswer, hostedSurface } from '@pipeline/contract';
import { until } from '@pipeline/testing';
import { type RawAnswer, RawConnection } from '@pipeline/testing/raw-connection';
import { testHosted } from '../support/hosted.ts';

const SECRET = 'between the host and us';
const hosting = testHosted({ webhookSecret: SECRET });

const MIB = 1024 * 1024;
const INFLATED = 25 * MIB;
const BOMB = brotliCompressSync(Buffer.alloc(INFLATED), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
const FORGED = `sha256=${'0'.repeat(64)}`;

async function deliver(headers: Record<string, string>, body: string | Uint8Array = '') {
  const raw = await RawConnection.open(hosting.api.url);
  raw.send('POST /webhooks/github', { 'content-type': 'application/json', ...headers }, body);
  return raw;
}

async function refusalOf(raw: RawConnection): Promise<[number, string]> {
  const answer = await raw.answer();
  raw.close();
  return [answer.status, codeOf(answer)];
}

function codeOf({ status, headers, body }: RawAnswer): string {
  const seen = { method: 'POST', path: '/webhooks/github', status, headers, body };
  expect(checkAnswer(hostedSurface, seen)).toEqual([]);
  return JSON.parse(body).code;
}

test('a delivery without a usable signature is refused before its body comes', async () => {
  const announced = { 'content-length': String(INFLATED) };
  for (const signature of [{}, { 'x-hub-signature-256': 'sha256=zz' }, { 'x-hub-signature-256': 'sha1=0123456789' }])
    expect(await refusalOf(await deliver({ ...announced, ...signature }))).toEqual([401, 'INVALID_SIGNATURE']);
});

test('so is every delivery where no secret is set', async () => {
  const api = await hosting.start();
  const raw = await RawConnection.open(api.url);
  raw.send('POST /webhooks/github', { 'content-length': String(INFLATED), 'x-hub-signature-256': FORGED });
  expect(await refusalOf(raw)).toEqual([401, 'INVALID_SIGNATURE']);
});

test('60 bombs of some bytes are not inflated, with or without a signature', async () => {
  expect(BOMB.length).toBeLessThan(64);
  const signed = `sha256=${createHmac('sha256', SECRET).update(BOMB).digest('hex')}`;
  const compressed = { 'content-encoding': 'br', 'content-length': String(BOMB.length) };
  const heads: [Record<string, string>, [number, string]][] = [
    [{}, [401, 'INVALID_SIGNATURE']],
    [{ 'x-hub-signature-256': FORGED }, [415, 'UNSUPPORTED_MEDIA_TYPE']],
    [{ 'x-hub-signature-256': signed }, [415, 'UNSUPPORTED_MEDIA_TYPE']],
  ];
  for (const [signature, expected] of heads) {
    const { external, arrayBuffers } = process.memoryUsage();
    const cpu = process.cpuUsage();
    const connections = await Promise.all(
      Array.from({ length: 60 }, () => deliver({ ...compressed, ...signature }, BOMB)),
    );
    for (const raw of connections) expect(await refusalOf(raw)).toEqual(expected);
    const after = process.memoryUsage();
    const { user } = process.cpuUsage(cpu);
    // One inflated body is more than all of it may cost; inflating 60 took more than ten seconds.
    expect(after.external + after.arrayBuffers - external - arrayBuffers).toBeLessThan(INFLATED);
    expect(user / 1000).toBeLessThan(3_000);
  }
});

test('bodies that nobody signed fill 64 MiB and no more, and real deliveries pass when they have gone', async () => {
  const body = Buffer.alloc(20 * MIB, ' ');
  const head = { 'content-length': String(INFLATED), 'x-hub-signature-256': FORGED };
  const connections = await Promise.all(Array.from({ length: 8 }, () => deliver(head, body)));
  const answered = () => connections.filter(({ text }) => text !== '');
  await until('some are refused', () => answered().length >= 4);
  for (const raw of answered()) expect(await refusalOf(raw)).toEqual([503, 'OVERLOADED']);
  for (const raw of connections) raw.close();
  const text = '{"zen":"Keep it simple."}';
  const send = () =>
    hosting.api.fetch(`${hosting.api.url}/webhooks/github`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'ping',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`,
      },
      body: text,
    });
  await until('a delivery is taken', async () => (await send()).status === 200);
});
