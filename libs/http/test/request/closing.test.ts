import { afterEach, expect, test } from '@jest/globals';
import { RawConnection } from '@pipeline/testing/raw-connection';
import { until } from '@pipeline/testing/until';
import { serveSample } from '../sample.ts';

const GOOD = { authorization: 'Basic good' };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** Handlers wait at a gate, then register what is to happen at the end. */
async function serve() {
  const counts = { begun: 0, registered: 0, ended: 0, aborted: 0 };
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const sample = await serveSample({
    handlers: {
      thingOne: async (input: { onClose(work: () => void): void; signal: AbortSignal }) => {
        counts.begun += 1;
        await gate;
        counts.registered += 1;
        input.onClose(() => {
          counts.ended += 1;
        });
        const gone = () => {
          counts.aborted += 1;
        };
        if (input.signal.aborted) gone();
        else input.signal.addEventListener('abort', gone);
        return { status: 200, body: { n: 1 } };
      },
    },
  });
  cleanups.push(sample.close);
  return { ...sample, counts, open };
}

async function connection(url: string) {
  const raw = await RawConnection.open(url);
  cleanups.push(() => raw.close());
  return raw;
}

test('a task bound to a request ends at once when its connection had closed before', async () => {
  const { url, counts, open } = await serve();
  const raw = await connection(url);
  raw.send('GET /api/things/one', GOOD);
  await until('it has begun', () => counts.begun === 1);
  raw.abort();
  const other = await connection(url);
  other.send('GET /health');
  await other.answer();
  open();
  await until('it has ended', () => counts.ended === 1 && counts.aborted === 1);
});

test('a task bound to a request ends when it waits behind another one of its connection', async () => {
  const { url, counts, open } = await serve();
  const raw = await connection(url);
  for (let n = 0; n < 5; n += 1) raw.send('GET /api/things/one', GOOD);
  await until('all have begun', () => counts.begun === 5);
  raw.abort();
  await until('the connection has closed', () => raw.isClosed);
  open();
  await until('all have ended', () => counts.ended === 5 && counts.aborted === 5);
});

test('a task bound to a request ends once when it is answered', async () => {
  const { url, counts, open } = await serve();
  open();
  const raw = await connection(url);
  raw.send('GET /api/things/one', GOOD);
  expect((await raw.answer()).status).toBe(200);
  await until('it has ended', () => counts.ended === 1);
  raw.close();
  await until('the next one is served', async () => (await fetch(`${url}/health`)).ok);
  expect(counts).toEqual({ begun: 1, registered: 1, ended: 1, aborted: 0 });
});
