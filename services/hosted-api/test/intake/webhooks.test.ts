import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { checkAnswer, hostedSurface, WebhookHeaders } from '@pipeline/contract';
import { openDeliveries } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { type RawAnswer, RawConnection } from '@pipeline/testing/raw-connection';
import { type Answer, answerOf, testHosted } from '../support/hosted.ts';

const SECRET = 'between the host and us';
const hosting = testHosted({ webhookSecret: SECRET });

describe('webhooks', () => {
  const { database } = hosting;

  interface Examples {
    name: string;
    examples: Record<string, unknown>[];
  }
  const load = createRequire(import.meta.url);
  const all = load('@octokit/webhooks-examples') as Examples[] | { default: Examples[] };
  const events = Array.isArray(all) ? all : all.default;
  const exampleOf = (name: string, action: string): string =>
    JSON.stringify(events.find((event) => event.name === name)?.examples.find((example) => example.action === action));

  const sign = (body: string | Buffer, secret = SECRET) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  /** Sends a delivery as the host would; a header that is set to null is left out. */
  async function deliver(body: string | Buffer, more: Record<string, string | null> = {}): Promise<Answer> {
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': sign(body),
      ...more,
    };
    const sent = Object.entries(headers).filter((header): header is [string, string] => header[1] !== null);
    const init = { method: 'POST', headers: sent, body: new Uint8Array(Buffer.from(body)) };
    return answerOf(await hosting.api.fetch(`${hosting.api.url}/webhooks/github`, init));
  }

  const kept = async (id: string) =>
    (await openDeliveries(database.store.db, 1_000, [])).find((delivery) => delivery.delivery_id === id);

  const statusOf = (isValid: boolean, isSigned: boolean): number => {
    if (!isSigned) return 401;
    return isValid ? 200 : 400;
  };

  test('reads the headers of a delivery as the document describes', async () => {
    const labeled = exampleOf('issues', 'labeled');
    const texts = [
      ...['', ' ', 'x', 'a b', 'a/b', 'a'.repeat(100), 'a'.repeat(101), 'ping', randomUUID(), '1.2:3-4_5'],
      null,
    ];
    for (const [name, schema] of Object.entries(WebhookHeaders.shape)) {
      const signatures = ['sha256=', `sha256=${'0'.repeat(64)}`, 'sha1=0123456789', sign(labeled), `${sign(labeled)}0`];
      for (const text of name === 'x-hub-signature-256' ? [...signatures, null] : texts) {
        // What is around a header's value is no part of it.
        const isValid = schema.safeParse(text?.trim()).success;
        const { status } = await deliver(labeled, { [name]: text });
        const isSigned = name !== 'x-hub-signature-256' || text === sign(labeled);
        expect([name, text, status]).toEqual([name, text, statusOf(isValid, isSigned)]);
      }
    }
  });

  describe('a delivery', () => {
    test('stores a delivery for the intake, once however often it comes', async () => {
      const id = randomUUID();
      const labeled = exampleOf('issues', 'labeled');
      const send = () => deliver(labeled, { 'x-github-delivery': id });
      expect((await send()).body).toEqual({ ok: true, delivery: 'accepted' });
      expect((await send()).body).toEqual({ ok: true, delivery: 'duplicate' });
      expect(await kept(id)).toMatchObject({ events: [{ kind: 'issue', action: 'labeled', label: 'bug' }] });
    });

    test('accepts a delivery once that comes twice at the same time', async () => {
      const id = randomUUID();
      const body = exampleOf('pull_request', 'opened');
      const both = [1, 2].map(() => deliver(body, { 'x-github-delivery': id, 'x-github-event': 'pull_request' }));
      expect((await Promise.all(both)).map((answer) => answer.body.delivery).sort()).toEqual(['accepted', 'duplicate']);
    });

    test.each([
      ['of an unknown event', 'dance', '{"action":"begun"}'],
      ['that only says hello', 'ping', '{"zen":"Keep it simple."}'],
      ['of an action that means nothing here', 'issues', '{"action":"pinned"}'],
    ])('%s is taken and ignored', async (_what, event, body) => {
      const id = randomUUID();
      const answer = await deliver(body, { 'x-github-event': event, 'x-github-delivery': id });
      expect([answer.status, answer.body.delivery]).toEqual([200, 'ignored']);
      expect(await kept(id)).toBeUndefined();
    });

    test('answers a delivery of every published kind', async () => {
      const answers: string[] = [];
      for (const { name, examples } of events) {
        for (const example of examples.slice(0, 2)) {
          const { status, body } = await deliver(JSON.stringify(example), { 'x-github-event': name });
          answers.push(`${status} ${body.delivery}`);
        }
      }
      expect(answers.length).toBeGreaterThan(80);
      expect([...new Set(answers)].sort()).toEqual(['200 accepted', '200 ignored']);
    });

    test('verifies a delivery over its bytes', async () => {
      const spaced = Buffer.from(`${exampleOf('issues', 'opened').replace('"action"', '  "action"')}\n`);
      expect((await deliver(spaced)).body.delivery).toBe('accepted');
    });

    test('stores a delivery without the characters that the store cannot keep', async () => {
      const body = exampleOf('issues', 'opened').replace('"title":"', '"title":"a\\u0000b\\ud83d');
      const id = randomUUID();
      expect((await deliver(body, { 'x-github-delivery': id })).body.delivery).toBe('accepted');
      expect(JSON.stringify(await kept(id))).toContain('a\ufffdb\ufffd');
    });
  });

  describe('a delivery is refused', () => {
    const labeled = exampleOf('issues', 'labeled');

    test.each([
      ['without a signature', null, 'X-Hub-Signature-256 is missing'],
      ['with the signature of another secret', sign(labeled, 'another'), 'Check the webhook secret'],
      ['with the signature of another body', sign(`${labeled} `), 'Check the webhook secret'],
      ['with a signature that is none', 'sha256=zz', 'Check the webhook secret'],
      ['with an old kind of signature', 'sha1=0123456789', 'Check the webhook secret'],
    ])('%s', async (_what, signature, text) => {
      const id = randomUUID();
      const { status, body } = await deliver(labeled, { 'x-hub-signature-256': signature, 'x-github-delivery': id });
      expect([status, body.code]).toEqual([401, 'INVALID_SIGNATURE']);
      expect(body.error).toContain(text);
      expect(await kept(id)).toBeUndefined();
    });

    test.each([
      ['x-github-delivery', null, 'X-GitHub-Delivery'],
      ['x-github-delivery', 'x'.repeat(101), 'X-GitHub-Delivery'],
      ['x-github-event', null, 'X-GitHub-Event'],
    ])('refuses a delivery when %s is %s', async (name, value, text) => {
      const { status, body } = await deliver(labeled, { [name]: value });
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
      expect(body.error).toContain(text);
    });

    test('refuses a delivery that is not JSON, and the error for a form names the content type', async () => {
      const broken = await deliver('{"action":');
      expect([broken.status, broken.body.code]).toEqual([400, 'INVALID_JSON']);
      const bytes = await deliver(Buffer.from([0x22, 0xff, 0x22]));
      expect([400, 401]).toContain(bytes.status);
      const form = await deliver(`payload=${encodeURIComponent(labeled)}`, {
        'content-type': 'application/x-www-form-urlencoded',
      });
      expect([form.body.code, form.body.error]).toEqual(['INVALID_JSON', expect.stringContaining('application/json')]);
    });

    test('refuses a delivery whose event lacks a field, and names the field', async () => {
      const { status, body } = await deliver('{"action":"opened","issue":{"number":"one"}}');
      expect(status).toBe(400);
      expect(body.error).toContain('issue.number');
    });

    test('refuses a delivery that is larger than the host would send', async () => {
      const { status, body } = await deliver(Buffer.alloc(25 * 1024 * 1024 + 1, ' '));
      expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    });

    test('whatever it is, where no secret is set, with a word on what to set', async () => {
      const api = await hosting.start();
      const response = await api.fetch(`${api.url}/webhooks/github`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(labeled, '') },
        body: labeled,
      });
      const { status, body } = await answerOf(response);
      expect([status, body.code]).toEqual([401, 'INVALID_SIGNATURE']);
      expect(body.error).toContain('GITHUB_WEBHOOK_SECRET');
    });
  });
});

describe('bodies of webhooks', () => {
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

  test('bodies without a signature fill 64 MiB and no more, and real deliveries pass when they have gone', async () => {
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
});
