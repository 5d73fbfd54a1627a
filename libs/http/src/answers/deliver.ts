import { type AnyRoute, checkBody, type Reply } from '@pipeline/contract';
import type { RequestScope } from '../request/request-scope.ts';
import { JSON_TYPE, send } from './fail.ts';

/** Response of a handler, without its exact type. */
export interface LooseAnswer {
  status: number;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  body?: unknown;
  json?: string;
  bytes?: Buffer;
  stream?: (response: RequestScope['response']) => Promise<void> | void;
}

/** @returns one line per part of the response that its route does not declare. */
export function undeclaredIn(route: AnyRoute, answer: LooseAnswer): string[] {
  const reply = route.replies[answer.status];
  if (!reply) return [`status ${answer.status} is not declared`];
  if (reply.streamed) return answer.stream ? [] : ['must be streamed'];
  return checkBody(reply, answer.json === undefined ? answer.body : JSON.parse(answer.json));
}

/** Writes a response. For a stream, settles when the stream has ended. */
export async function deliver(scope: RequestScope, reply: Reply | undefined, answer: LooseAnswer): Promise<void> {
  const { status, headers = {}, body, json, bytes, stream } = answer;
  if (stream) {
    prepareStream(scope, reply, { status, headers });
    // An event stream never ends, so HEAD must not wait for it.
    if (scope.request.method === 'HEAD' && reply?.type === 'text/event-stream') scope.response.end();
    else await stream(scope.response);
  } else if (json !== undefined) {
    send(scope, status, bytes ?? json, { ...JSON_TYPE, ...headers });
  } else if (body === undefined) {
    empty(scope, status, headers);
  } else if (reply?.type && !reply.type.includes('json')) {
    send(scope, status, bytes ?? String(body), { 'content-type': `${reply.type}; charset=utf-8`, ...headers });
  } else {
    send(scope, status, JSON.stringify(body), { ...JSON_TYPE, ...headers });
  }
}

/** Sets the head of a response whose handler writes the body. */
function prepareStream(scope: RequestScope, reply: Reply | undefined, { status, headers }: LooseAnswer): void {
  const type = reply?.type && reply.type !== '*/*' ? { 'content-type': reply.type } : {};
  scope.response.statusCode = status;
  const all = { ...scope.headers, ...type, ...headers };
  for (const [name, value] of Object.entries(all)) scope.response.setHeader(name, value);
}

function empty(scope: RequestScope, status: number, headers: LooseAnswer['headers']): void {
  // On a 304 the header would be the length of the cached body.
  const length: Record<string, string> = status === 204 || status === 304 ? {} : { 'content-length': '0' };
  scope.response.writeHead(status, { ...scope.headers, ...headers, ...length } as Record<string, string>);
  scope.response.end();
}
