import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';

export interface Request {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (request: Request, response: ServerResponse) => void;

/** A server for the tests of a file. Each request gets the next answer; the last one stays. */
export function aServer() {
  const seen: Request[] = [];
  const answers: Answer[] = [];
  const at = { url: '' };
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body };
      seen.push(request);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      answer?.(request, response);
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    at.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen.length = 0;
    answers.length = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    at,
    seen,
    /** Sets the responses to the next requests. */
    answers: (...given: Answer[]) => answers.splice(0, answers.length, ...given),
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
    response.end(JSON.stringify(body));
  };

/** The connection breaks without an answer. */
export const broken: Answer = (_request, response) => void response.destroy();

export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(status, { error: `refused with ${code}`, code, status }, { 'x-request-id': 'req-1', ...headers });
