import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

interface StreamPeer {
  open(request: IncomingMessage, response: ServerResponse): void;
  send(id: number, data: Record<string, unknown>): void;
}

/** Serves a stream as all its servers do: events come in by POST, each gets an id and the time, as ours do. */
export function serveStream(port: number, { open, send }: StreamPeer): void {
  let id = 0;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const data = (await json(request)) as Record<string, unknown>;
    // Before the writes: the publisher does not wait for the subscribers, as with ours.
    response.writeHead(204).end();
    id += 1;
    send(id, { ...data, timestamp: new Date().toISOString() });
  };
  const server = createServer((request, response) => {
    if (request.url === '/api/events') open(request, response);
    else if (request.url === '/publish') void take(request, response);
    else response.end();
  });
  server.listen(port, '127.0.0.1');
}
