import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostEvent } from '@pipeline/domain';
import { parseWebhook } from '@pipeline/vcs';
import type { World } from './environment.ts';

/** What a webhook of the sandbox host has delivered so far, as the parser reads it. */
export interface Receiver {
  /** Waits for what is on its way. */
  events(): Promise<HostEvent[]>;
  stop(): Promise<void>;
}

export async function startReceiver({ sandbox }: Pick<World, 'sandbox'>): Promise<Receiver> {
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
