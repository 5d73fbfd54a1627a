import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverClosedWithFile } from '@pipeline/testing/closing';

interface Taken {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Program of a third party: takes messages, or does what `answer` describes. */
export interface Receiver {
  url: string;
  taken: Taken[];
  /** Status to answer with; 0 = no answer at all; 302 leads to /elsewhere. */
  status: number;
  close(): Promise<void>;
}

/** @param port 0 = any that is free. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const taken: Taken[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      taken.push({ path: request.url ?? '', headers: request.headers, body });
      if (receiver.status === 0) return;
      response.writeHead(receiver.status, receiver.status === 302 ? { location: '/elsewhere' } : {}).end('thank you');
    });
  });
  const close = serverClosedWithFile(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const receiver: Receiver = { url, taken, status: 204, close };
  return receiver;
}
