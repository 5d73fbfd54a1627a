import { z } from 'zod';
import { route } from '../route.ts';

const page = { auth: 'none', needsStore: false, tags: ['Dashboard'], method: 'get', undocumented: true } as const;

export const getDashboardPage = route({
  ...page,
  id: 'getDashboardPage',
  path: '/',
  summary: 'The dashboard',
  description: 'The dashboard, or a page that says it has not been built.',
  replies: { 200: { description: 'The page.', type: 'text/html', body: z.string() } },
});

export const getAsset = route({
  ...page,
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

export const staticRoutes = [getDashboardPage, getAsset] as const;
