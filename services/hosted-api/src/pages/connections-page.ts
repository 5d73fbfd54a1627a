import { type Html, html } from '@pipeline/domain';
import type { Account, ConnectionEntry } from '@pipeline/store';
import { moment, type Page, page } from './layout.ts';

export interface ConnectionsView {
  account: Account;
  connections: readonly ConnectionEntry[];
  formToken: string;
  /** A connection was ended just now. */
  ended: boolean;
}

/** The programs that read in the name of a user, each with a way to end that. */
export function connectionsPage({ account, connections, formToken, ended }: ConnectionsView): Page {
  const status = ended
    ? html`<p class="status" role="status">The connection was ended. The program no longer has access.</p>`
    : null;
  const intro =
    connections.length === 0
      ? html`<p>No program reads the pipeline on your behalf (${account.email}).</p>`
      : html`<p>These programs read the pipeline on your behalf (${account.email}).</p>`;
  return page(
    'Your connections',
    html`${status}${intro}
${connections.map(entry)}
<p><a href="/account/logins">Ways to log in</a></p>
<form method="post" action="/account/logout">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit" class="plain">Log out</button>
</form>`,
  );
}

const entry = (connection: ConnectionEntry): Html => html`<section aria-labelledby="name-${connection.id}">
<h2 id="name-${connection.id}">${connection.clientName}</h2>
${facts(connection)}
<p class="row"><a class="button bad" href="/account/connections/${connection.id}/end"
aria-describedby="name-${connection.id}">End this connection</a></p>
</section>
`;

/** Asks once before a connection is ended. */
export const endConnectionPage = (connection: ConnectionEntry, formToken: string): Page =>
  page(
    `End the connection of ${connection.clientName}?`,
    html`<p>${connection.clientName} will not be able to read anything from this moment on. To read again it has to ask you
for a new connection.</p>
<section aria-label="The connection">
${facts(connection)}
<form method="post" action="/account/connections/${connection.id}/revoke" class="row">
<input type="hidden" name="form_token" value="${formToken}">
<button type="submit" class="bad">End the connection</button>
<a class="button plain" href="/account/connections">Keep it</a>
</form>
</section>`,
  );

const facts = ({ organisation, ...times }: ConnectionEntry): Html => html`<dl>
<dt>Reads the pipeline of</dt><dd>${organisation}</dd>
<dt>Connected since</dt><dd>${moment(times.createdAt)}</dd>
<dt>Last refreshed</dt><dd>${times.lastUsedAt ? moment(times.lastUsedAt) : 'never'}</dd>
<dt>Expires</dt><dd>${moment(times.expiresAt)}</dd>
</dl>`;
