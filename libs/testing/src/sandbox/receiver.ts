import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostEvent } from '@pipeline/domain';
import { parseWebhook } from '@pipeline/vcs';
import type { SandboxEnvironment } from './environment.ts';

/** The webhook deliveries received so far, parsed. */
export interface Receiver {
  /** Waits for deliveries that are in flight. */
  events(): Promise<HostEvent[]>;
  stop(): Promise<void>;
}

/** Registers a webhook of the sandbox host and receives its deliveries. */
export async function startReceiver({ sandbox }: Pick<SandboxEnvironment, 'sandbox'>): Promise<Receiver> {
  const received: HostEvent[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const parsed = parseWebhook(String(req.headers['x-github-event']), JSON.parse(Buffer.concat(chunks).toString()));
      if (parsed !== 'ignored') received.push(...parsed);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  sandbox.addWebhook({ url: `http://127.0.0.1:${port}/hook`, secret: 'a secret' });
  return {
    async events() {
      await sandbox.flushWebhooks();
      return received;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
