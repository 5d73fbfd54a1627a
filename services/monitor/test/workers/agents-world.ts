import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverClosedWithFile } from '@pipeline/testing/closing';

/** An agent as the monitor sees it: an HTTP server whose answer a test sets. */
export interface FakeAgent {
  url: string;
  answer: RequestListener;
  close(): Promise<void>;
}

export async function startAgent(answer: RequestListener): Promise<FakeAgent> {
  const agent: FakeAgent = { url: '', answer, close: async () => undefined };
  const server = createServer((request, response) => agent.answer(request, response));
  agent.close = serverClosedWithFile(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
  return agent;
}

export const says =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

/** A server on a unix socket that speaks the Docker engine's answers to a restart, and keeps what it was asked. */
export interface FakeDocker {
  dockerHost: string;
  asked: string[];
  close(): Promise<void>;
}

export async function startDocker(folder: string, known: readonly string[]): Promise<FakeDocker> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const name = /^\/containers\/([^/]+)\/restart$/.exec(request.url ?? '')?.[1] ?? '';
    if (known.includes(name)) return void response.writeHead(204).end();
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: `No such container: ${name}` }));
  });
  const socket = join(folder, `docker-${asked.length}-${Math.random().toString(36).slice(2)}.sock`);
  const close = serverClosedWithFile(server);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return { dockerHost: `unix://${socket}`, asked, close };
}

export function makeFolder(): { folder: string; file(name: string, text: string): string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'agents-'));
  return {
    folder,
    file(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
