import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SandboxEnvironment } from '@pipeline/testing/sandbox';

// biome-ignore lint/suspicious/noExplicitAny: payloads of every shape are looked into.
type Received = [event: string, payload: any];

/** Receives the webhooks of a sandbox host as they are sent. */
export async function startHooks(environment: Pick<SandboxEnvironment, 'sandbox'>) {
  let received: Received[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push([String(req.headers['x-github-event']), JSON.parse(Buffer.concat(chunks).toString())]);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  environment.sandbox.addWebhook({ url: `http://127.0.0.1:${port}/`, secret: 'a secret' });
  return {
    /** The deliveries since the last call. */
    async take(): Promise<Received[]> {
      await environment.sandbox.flushWebhooks();
      const taken = received;
      received = [];
      return taken;
    },
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
