import type { Account, ConnectionEntry } from '@pipeline/store';
import { type Html, html } from './html.ts';
import { type Page, page } from './layout.ts';

export interface ConnectionsView {
  account: Account;
  connections: readonly ConnectionEntry[];
  formToken: string;
  /** A connection was ended just now. */
  ended: boolean;
}

/** The programs that read in somebody's name, each with a way to end that. */
export function connectionsPage({ account, connections, formToken, ended }: ConnectionsView): Page {
  const status = ended
    ? html`<p class="status" role="status">The connection was ended. It reads nothing any more.</p>`
    : null;
  const list =
    connections.length === 0
      ? html`<p>No program reads in your name.</p>`
      : connections.map((connection) => entry(connection, formToken));
  return page(
    'Your connections',
    html`${status}<p>Programs that read in the name of ${account.email}.</p>
${list}
<form method="post" action="/account/logout">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit" class="plain">Log out</button>
</form>`,
  );
}

const entry = ({ id, clientName, organisation, ...times }: ConnectionEntry, formToken: string): Html => html`<section
aria-labelledby="name-${id}">
<h2 id="name-${id}">${clientName}</h2>
<dl>
<dt>organisation</dt><dd>${organisation}</dd>
<dt>since</dt><dd>${moment(times.createdAt)}</dd>
<dt>last refreshed</dt><dd>${times.lastUsedAt ? moment(times.lastUsedAt) : 'never'}</dd>
<dt>ends by itself</dt><dd>${moment(times.expiresAt)}</dd>
</dl>
<form method="post" action="/account/connections/${id}/revoke">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit" class="bad" aria-describedby="name-${id}">End this connection</button>
</form>
</section>
`;

const moment = (time: string): Html => html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;
