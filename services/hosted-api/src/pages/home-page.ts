import { html } from '@pipeline/domain';
import { type Page, page } from './layout.ts';

/** Returns the page at the root address of the API. */
export const homePage = ({ origin, monitorUrl }: { origin: string; monitorUrl: string | undefined }): Page =>
  page(
    'Pipeline',
    html`<p>This service moves the issues of repositories through a pipeline of agents. Programs read its state through
connections that you allow and can end.</p>
<section aria-labelledby="people">
<h2 id="people">For people</h2>
<ul>
<li><a href="/account/login?return_to=%2F">Log in</a>: your repositories, issues and costs.</li>
<li><a href="/account/connections">Your connections</a>: programs that read on your behalf, and how to end their access.</li>
${monitorUrl ? html`<li><a href="${monitorUrl}">Monitor</a>: for operators.</li>` : null}
</ul>
</section>
<section aria-labelledby="programs">
<h2 id="programs">For programs</h2>
<ul>
<li><a href="/api/openapi.json">API description</a> (OpenAPI 3.1): every endpoint, parameter and error.</li>
<li><a href="/.well-known/oauth-authorization-server">Authorization server</a>: the OAuth 2.1 endpoints for getting access.</li>
<li>Assistants connect with the Model Context Protocol at <code>${origin}/api/mcp</code>.</li>
</ul>
<p>A request without a token returns 401 with the address where the program can register and request access.</p>
</section>`,
    { isHome: true },
  );

/** A browser asked for an address where nothing is. */
export const notFoundPage = (): Page =>
  page(
    'Page not found',
    html`<p>There is no page at this address.</p>
<p><a href="/">Start page</a> · <a href="/account/connections">Your connections</a></p>`,
  );
