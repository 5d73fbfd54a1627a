import { z } from 'zod';
import { route } from '../wire/route.ts';
import { getAsset } from '../wire/web-files.ts';

const page = { auth: 'none', needsStore: false, tags: ['Dashboard'], method: 'get' } as const;

const getDashboardPage = route({
  ...page,
  undocumented: true,
  id: 'getDashboardPage',
  path: '/',
  summary: 'The dashboard',
  description: 'Returns the dashboard, or a placeholder page when it has not been built.',
  replies: {
    200: { description: 'The page.', type: 'text/html', body: z.string() },
    304: { description: 'The page has the ETag of If-None-Match.' },
  },
});

const getMetricsText = route({
  ...page,
  id: 'getMetricsText',
  path: '/prometheus',
  summary: 'Get Prometheus metrics',
  description:
    'Metrics in the Prometheus text format, served from memory. Unauthenticated. Do not expose this endpoint to the public internet.',
  replies: { 200: { description: 'Metrics.', type: 'text/plain; version=0.0.4', body: z.string() } },
});

export const staticRoutes = [getDashboardPage, getMetricsText, getAsset] as const;
