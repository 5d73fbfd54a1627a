import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface StreamPeer {
  open(request: IncomingMessage, response: ServerResponse): void;
  send(id: number, data: Record<string, unknown>): void;
}

/** What servers of streams have in common: events come in by POST, each gets an id and the time, as ours do. */
export function serveStream(port: number, { open, send }: StreamPeer): void {
  let id = 0;
  const publish = async (request: IncomingMessage) => {
    for (const data of (await json(request)) as Record<string, unknown>[]) {
      id += 1;
      send(id, { ...data, timestamp: new Date().toISOString() });
    }
  };
  const server = createServer(async (request, response) => {
    if (request.url === '/api/events') return open(request, response);
    if (request.url === '/publish') await publish(request);
    response.writeHead(request.url === '/publish' ? 204 : 200).end();
  });
  server.listen(port, '127.0.0.1');
}
