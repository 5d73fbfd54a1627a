import type { Account, Organisation } from '@pipeline/store';
import { html } from './html.ts';
import { alert, type Page, page } from './layout.ts';

export interface ConsentForm {
  uid: string;
  formToken: string;
  account: Account;
  client: {
    name: string;
    /** Who vouches for the name: the host of its metadata document; null = nobody. */
    verifiedHost: string | null;
    /** Where its user is sent back to, and with it the access. */
    redirect: string;
  };
  organisations: readonly Organisation[];
  problem?: string;
}

/** Asks whether a program may read in somebody's name, and of which organisation. */
export function consentPage(form: ConsentForm): Page {
  const { uid, formToken, account, client, organisations, problem } = form;
  const [only, ...others] = organisations;
  const vouched = client.verifiedHost
    ? html`<p>It is the program of <strong>${client.verifiedHost}</strong>.</p>`
    : html`<p>It chose this name itself. Go on only if you have just started this program.</p>`;
  const facts = html`<section aria-labelledby="program">
<h2 id="program">${client.name}</h2>
${vouched}
<dl>
<dt>sends you back to</dt><dd>${placeOf(client.redirect)}</dd>
<dt>you are</dt><dd>${account.email}</dd>
</dl>
</section>`;
  const leave = html`<form method="post" action="/account/logout">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="return_to" value="/oauth/interaction/${uid}">
<p class="soft">Not ${account.email}? <button type="submit" class="plain">Use another account</button></p>
</form>`;
  const none = html`${alert('Your account belongs to no organisation, so there is nothing that a program could read.')}
<p>Ask the operator of this service to make you a member.</p>`;
  const choice =
    others.length === 0
      ? html`<input type="hidden" name="organisation" value="${only?.externalId ?? ''}">
<p>of <strong>${only?.name ?? ''}</strong></p>`
      : html`<fieldset${problem ? html` aria-describedby="problem"` : null}>
<legend>of which organisation?</legend>
${organisations.map(option)}
</fieldset>`;
  const decide = html`<form method="post" action="/oauth/interaction/${uid}/confirm" class="card">
<input type="hidden" name="form_token" value="${formToken}">
<h2>It wants to read</h2>
<p>issues, their state and history, work under way and costs of the repositories that you may see</p>
${choice}
<p class="soft">It can change nothing, and sees never more than you do. You can end this at any time under
Your connections.</p>
<div class="row">
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="plain" formnovalidate>Refuse</button>
</div>
</form>`;
  const content = html`${problem ? alert(problem) : null}${facts}${only ? decide : none}${leave}`;
  return page(`Let ${client.name} read?`, content, { formsLeave: true });
}

const option = ({ externalId, name }: Organisation) => html`<label>
<input type="radio" name="organisation" value="${externalId}" required>${name}</label>`;

/** A redirect as people can judge it. */
function placeOf(redirect: string): string {
  const { protocol, hostname, host } = new URL(redirect);
  if (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
    return 'a program on this computer';
  return protocol === 'https:' ? host : `the program on this device that opens ${protocol} addresses`;
}
