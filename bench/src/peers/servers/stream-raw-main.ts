import type { ServerResponse } from 'node:http';
import { serveStream } from './published.ts';

/** The floor: node:http, one Buffer per event, one write of it per connection, without chunks. */
const open = new Set<ServerResponse>();
serveStream(Number(process.env.PORT), {
  open(_request, response) {
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 3000\n\n');
    open.add(response);
    response.once('close', () => open.delete(response));
  },
  send(id, data) {
    const frame = Buffer.from(`id: ${id}\nevent: state-transition\ndata: ${JSON.stringify(data)}\n\n`);
    for (const response of open) response.write(frame);
  },
});
