import { pipeline } from 'node:stream/promises';
import type { staticRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import { PLACEHOLDER, PLACEHOLDER_POLICY } from './placeholder-page.ts';
import { openAsset, readPage } from './web-files.ts';

/** Built files carry a hash of their content in their name. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * interface: Metrics text and static.
 * @param webDir folder of the built dashboard: `index.html` and `assets/`. It need not exist.
 */
export const staticHandlers = (
  webDir: string,
  metricsText: () => Promise<string>,
): HandlersOf<typeof staticRoutes> => ({
  getMetricsText: async () => ({ status: 200, body: await metricsText() }),

  getDashboardPage: async () => {
    const page = await readPage(webDir);
    if (page !== null) return { status: 200, headers: { 'cache-control': 'no-cache' }, body: page };
    const headers = { 'content-security-policy': PLACEHOLDER_POLICY, 'cache-control': 'no-cache' };
    return { status: 200, headers, body: PLACEHOLDER };
  },

  getAsset: async ({ params }) => {
    const file = await openAsset(webDir, params.path);
    if (file === null) return { status: 404 };
    const headers = { 'content-type': file.type, 'content-length': String(file.size), 'cache-control': FOR_EVER };
    return { status: 200, headers, stream: (response) => pipeline(file.read(), response) };
  },
});
