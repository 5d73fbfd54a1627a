import { z } from 'zod';
import { route } from '../wire/route.ts';

const page = { auth: 'none', needsStore: false, tags: ['Dashboard'], method: 'get' } as const;

export const getDashboardPage = route({
  ...page,
  undocumented: true,
  id: 'getDashboardPage',
  path: '/',
  summary: 'The dashboard',
  description: 'The dashboard, or a page that says it has not been built.',
  replies: { 200: { description: 'The page.', type: 'text/html', body: z.string() } },
});

export const getAsset = route({
  ...page,
  undocumented: true,
  id: 'getAsset',
  path: '/assets/{path*}',
  summary: 'A file of the dashboard',
  description: 'A missing file and a path that leaves the folder get the same empty 404.',
  params: z.object({ path: z.string() }),
  replies: {
    200: { description: 'The file.', streamed: true, type: '*/*' },
    404: { description: 'No such file.' },
  },
});

export const getMetricsText = route({
  ...page,
  id: 'getMetricsText',
  path: '/prometheus',
  summary: 'The metrics',
  description: 'Text for Prometheus, from memory. It asks nobody who they are: keep it from the outside.',
  replies: { 200: { description: 'The metrics.', type: 'text/plain; version=0.0.4', body: z.string() } },
});

export const staticRoutes = [getDashboardPage, getMetricsText, getAsset] as const;
