import { createServer } from 'node:http';

/** The floor: node:http and nothing else, an object serialised for each request. */
createServer((request, response) => {
  const ok = request.url === '/health';
  const body = JSON.stringify(ok ? { status: 'healthy' } : small());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');

/** About as much as a small answer of ours. */
function small() {
  const org = { id: 1, slug: 'acme', name: 'Acme', createdAt: '2026-01-01T00:00:00.000Z' };
  return {
    org,
    repos: [],
    viewer: { userId: '1', login: 'ann@example.org', role: 'owner', scopes: ['pipeline:read'] },
  };
}
