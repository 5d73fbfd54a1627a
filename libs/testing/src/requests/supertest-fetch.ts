import type { IncomingMessage } from 'node:http';
import supertest from 'supertest';

type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** Statuses whose response has no body. */
const WITHOUT_BODY = [204, 304];

/**
 * `fetch` over supertest, for the HTTP tests of the services. The response is buffered; an event stream is closed after
 * its headers, with an empty body. @throws the reason of the request's signal when it is aborted.
 */
export const supertestFetch: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { origin, pathname, search } = new URL(request.url);
  const method = request.method.toLowerCase() as Method;
  const test = supertest(origin)
    [method](`${pathname}${search}`)
    .redirects(request.redirect === 'follow' ? 5 : 0)
    .serialize((body) => body)
    .buffer(true)
    .parse(readBytes);
  if (!request.headers.has('accept')) test.set('accept', '*/*');
  for (const [name, value] of request.headers) test.set(name, value);
  const body = Buffer.from(await request.arrayBuffer());
  if (body.length > 0) test.send(body);
  const abort = () => void test.abort();
  request.signal.addEventListener('abort', abort, { once: true });
  try {
    request.signal.throwIfAborted();
    return responseOf(await test);
  } catch (error) {
    throw request.signal.aborted ? request.signal.reason : error;
  } finally {
    request.signal.removeEventListener('abort', abort);
  }
};

function responseOf({ status, headers, body }: supertest.Response): Response {
  const received = new Headers();
  for (const [name, value] of Object.entries(headers as Record<string, string | string[]>)) {
    for (const each of [value].flat()) received.append(name, each);
  }
  const bytes = Buffer.isBuffer(body) ? new Uint8Array(body) : null;
  return new Response(WITHOUT_BODY.includes(status) ? null : bytes, { status, headers: received });
}

/** A parser of superagent that keeps the bytes as they are. */
function readBytes(response: supertest.Response, done: (error: Error | null, body: Buffer) => void): void {
  const stream = response as unknown as IncomingMessage;
  if (stream.headers['content-type']?.startsWith('text/event-stream')) {
    stream.destroy();
    done(null, Buffer.alloc(0));
    return;
  }
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
}
