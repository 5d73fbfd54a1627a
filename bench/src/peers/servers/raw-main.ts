import { createServer } from 'node:http';

const OCTETS = '/octets/';
const bodies = new Map<string, Buffer>();

/** The floor: node:http and nothing else. An object serialised for each request, or so many octets made before. */
createServer((request, response) => {
  const url = request.url ?? '';
  const body = url.startsWith(OCTETS)
    ? octets(url)
    : JSON.stringify(url === '/health' ? { status: 'healthy' } : small());
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');

function octets(url: string): Buffer {
  const known = bodies.get(url) ?? Buffer.alloc(Number(url.slice(OCTETS.length)), 'x');
  bodies.set(url, known);
  return known;
}

/** About as much as a small answer of ours. */
function small() {
  const org = { id: 1, slug: 'acme', name: 'Acme', createdAt: '2026-01-01T00:00:00.000Z' };
  return {
    org,
    repos: [],
    viewer: { userId: '1', login: 'ann@example.org', role: 'owner', scopes: ['pipeline:read'] },
  };
}
