import type { staticRoutes } from '@pipeline/contract';
import { type HandlersOf, type PreparedBody, webAsset, webPage } from '@pipeline/http';
import { PLACEHOLDER, PLACEHOLDER_POLICY } from './placeholder-page.ts';

/**
 * interface: Metrics text and static.
 * @param webDir folder of the built dashboard: `index.html` and `assets/`. It need not exist.
 */
export const staticHandlers = (
  webDir: string,
  metricsText: () => Promise<PreparedBody>,
): HandlersOf<typeof staticRoutes> => ({
  getMetricsText: async ({ request }) => {
    const body = await metricsText();
    return { status: 200, body: body.text, ...(await body.encodedFor(request)) };
  },

  getDashboardPage: async ({ request }) => {
    const headers = { 'content-security-policy': PLACEHOLDER_POLICY, 'cache-control': 'no-cache' };
    return (await webPage(webDir, request)) ?? { status: 200, headers, body: PLACEHOLDER };
  },

  getAsset: ({ params, request }) => webAsset(webDir, params.path, request),
});
