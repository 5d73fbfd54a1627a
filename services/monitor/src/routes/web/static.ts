import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { staticRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { Request } from 'express';
import { PLACEHOLDER, PLACEHOLDER_POLICY } from './placeholder-page.ts';
import { ENCODINGS, type Encoding, openAsset, readPage } from './web-files.ts';

/** Scripts and styles of this origin as files; nothing inline, nothing from elsewhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

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

  getDashboardPage: async ({ request }) => {
    const page = await readPage(webDir);
    if (page === null) {
      const headers = { 'content-security-policy': PLACEHOLDER_POLICY, 'cache-control': 'no-cache' };
      return { status: 200, headers, body: PLACEHOLDER };
    }
    const headers = { 'content-security-policy': PAGE_POLICY, 'cache-control': 'no-cache', etag: page.etag };
    return request.headers['if-none-match'] === page.etag
      ? { status: 304, headers }
      : { status: 200, headers, body: page.html };
  },

  getAsset: async ({ params, request }) => {
    const file = await openAsset(webDir, params.path, encodingsOf(request));
    if (file === null) return { status: 404 };
    const headers = {
      'content-type': file.type,
      'content-length': String(file.size),
      'cache-control': FOR_EVER,
      vary: 'accept-encoding',
      ...(file.encoding !== null && { 'content-encoding': file.encoding }),
    };
    return { status: 200, headers, stream: (response) => pipeline(file.read(), response) };
  },
});

/** Encodings of files that the caller accepts, the smallest first. */
const encodingsOf = (request: IncomingMessage): Encoding[] => {
  const accepted = (request as Request).acceptsEncodings();
  return ENCODINGS.filter((encoding) => accepted.includes(encoding));
};
