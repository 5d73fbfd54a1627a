import express from 'express';

/** Stock express: routing and res.json with its defaults. */
const app = express();
app.get('/health', (_request, response) => void response.json({ status: 'healthy' }));
app.get('/small', (_request, response) => {
  const org = { id: 1, slug: 'acme', name: 'Acme', createdAt: '2026-01-01T00:00:00.000Z' };
  const viewer = { userId: '1', login: 'ann@example.org', role: 'owner', scopes: ['pipeline:read'] };
  response.json({ org, repos: [], viewer });
});
app.listen(Number(process.env.PORT), '127.0.0.1');
