import { createHash } from 'node:crypto';
import type { staticRoutes } from '@pipeline/contract';
import { type HandlersOf, type PreparedBody, webAsset, webPage } from '@pipeline/http';

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { max-width: 42rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; }
code { font-family: ui-monospace, monospace; }
`;

/** Page at `/` where the dashboard has not been built. */
const PLACEHOLDER = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pipeline monitor</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Pipeline monitor</h1>
<p>This process watches the pipeline, writes its state to the version-control host and serves the API that operators
use. The dashboard has not been built: run <code>node services/monitor/web/scripts/build-main.ts</code> in the source
tree, or use the container image, which contains it.</p>
<ul>
<li><a href="/api/openapi.json"><code>/api/openapi.json</code></a> describes the API (OpenAPI 3.1).</li>
<li><a href="/health"><code>/health</code></a> says that the process is alive, <a href="/ready"><code>/ready</code></a>
what it is connected to.</li>
<li>Programs send <code>Authorization: Basic</code> with each request to <code>/api</code>.</li>
</ul>
</main>
</body>
</html>
`;

const styleHash = createHash('sha256').update(STYLE).digest('base64');

/** Nothing but the page's own style: no script, no picture, no request, no frame. */
const PLACEHOLDER_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

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
