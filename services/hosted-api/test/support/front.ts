import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serverClosedWithFile } from '@pipeline/testing/closing';

/** A balancer in front of several replicas, as simple as can be: one after the other, request by request. */
export interface Front {
  url: string;
  /** Returns the number of requests that each replica got. */
  counts(): number[];
  to(targets: readonly string[]): void;
  close(): Promise<void>;
}

export async function startFront(): Promise<Front> {
  let targets: readonly string[] = [];
  let counts: number[] = [];
  let turn = 0;
  const server = createServer((request, response) => {
    const index = turn++ % targets.length;
    counts[index] = (counts[index] ?? 0) + 1;
    const { method, url, headers } = request;
    const onward = forward(`${targets[index]}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  const close = serverClosedWithFile(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    counts: () => counts,
    to: (urls) => {
      targets = urls;
      counts = urls.map(() => 0);
    },
    close,
  };
}
