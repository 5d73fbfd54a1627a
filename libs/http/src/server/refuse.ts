import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorCatalogue, STATUS_OF } from '@pipeline/contract';
import type { ErrorCode } from '@pipeline/domain';
import { sleep } from '@pipeline/runtime';

export const MAX_HEADERS = 16 * 1024;
const LINGER_MS = 1_000;
const JSON_TYPE = 'application/json; charset=utf-8';

interface Refusal {
  code: ErrorCode;
  message: string;
  reason: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'INVALID_INPUT',
    message: `Request headers larger than ${MAX_HEADERS} bytes`,
    reason: 'Bad Request',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'REQUEST_TIMEOUT',
    message: errorCatalogue.REQUEST_TIMEOUT.text,
    reason: 'Request Timeout',
  },
};
const MALFORMED: Refusal = { code: 'INVALID_INPUT', message: 'Malformed HTTP request', reason: 'Bad Request' };

const bodyOf = (code: ErrorCode, error: string): string => JSON.stringify({ error, code, status: STATUS_OF[code] });

/** Responds to invalid HTTP, slow requests and headers above 16 KiB before routing, then closes the connection. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { code, message, reason } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = bodyOf(code, message);
  socket.end(
    `HTTP/1.1 ${STATUS_OF[code]} ${reason}\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // The peer may never close; destroying the connection immediately could lose the response.
  void sleep(LINGER_MS).then(() => socket.destroy());
}

/** Refuses HTTP/1.1 requests without a Host header, as RFC 9112 requires. */
export function requireHost(app: RequestListener): RequestListener {
  return (request, response) => {
    if (request.httpVersion === '1.1' && request.headers.host === undefined)
      refuseRequest(response, 'Missing Host header');
    else app(request, response);
  };
}

/** Refuses the request of an event `checkExpectation`. The status is 400 and not 417: each route declares it. */
export const refuseExpectation = (_request: IncomingMessage, response: ServerResponse): void =>
  refuseRequest(response, 'Unsupported Expect header: only 100-continue is supported');

function refuseRequest(response: ServerResponse, message: string): void {
  const body = bodyOf('INVALID_INPUT', message);
  response.writeHead(STATUS_OF.INVALID_INPUT, {
    connection: 'close',
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
