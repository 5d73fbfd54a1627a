import { z } from 'zod';
import { route } from './route.ts';
import type { PathFallback } from './surface.ts';

/** Files of the pages that a service serves. */
export const getAsset = route({
  auth: 'none',
  needsStore: false,
  tags: ['Dashboard'],
  method: 'get',
  undocumented: true,
  id: 'getAsset',
  path: '/assets/{path*}',
  summary: 'A file of the pages',
  description: 'Missing files and paths outside the asset folder return 404 with an empty body.',
  params: z.object({ path: z.string() }),
  replies: {
    200: { description: 'The file.', streamed: true, type: '*/*' },
    404: { description: 'No such file.' },
  },
});

/** Every other path below the files has no body, either. */
export const missingAsset: PathFallback = {
  prefix: '/assets/',
  methods: ['get'],
  refusal: { code: 'NOT_FOUND' },
  emptyBody: true,
};
