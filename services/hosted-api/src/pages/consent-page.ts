import { type Html, html } from '@pipeline/domain';
import type { Account, Organisation } from '@pipeline/store';
import type { Program } from '../accounts/program.ts';
import type { TokenLifetimes } from '../accounts/token-lifetimes.ts';
import { alert, type Page, page } from './layout.ts';

export interface ConsentForm {
  /** Address to which the form is sent. */
  action: string;
  /** The page that asks, for those who log in as another user. */
  returnTo: string;
  formToken: string;
  account: Account;
  program: Program;
  /** Target of the answer, and with it of the access: an address, or the program that shows a code. */
  target: { redirect: string } | { userCode: string; address: string };
  organisations: readonly Organisation[];
  lifetimes: TokenLifetimes;
  problem?: string;
}

/** Asks whether a program may read in the name of a user, of which organisation, and names for how long. */
export function consentPage(form: ConsentForm): Page {
  const { program, organisations, problem } = form;
  const [only] = organisations;
  const content = html`${problem ? alert(problem) : null}
<section aria-labelledby="who">
<h2 id="who">Requesting program</h2>
${origin(form)}
${
  'redirect' in form.target
    ? html`<p>After your decision, your browser is redirected to ${placeOf(form.target.redirect)}:<br>
<code>${form.target.redirect}</code></p>`
    : device(form.target)
}
</section>
${only ? decision(form, only) : none()}
${anotherAccount(form)}`;
  const title = only ? `Allow ${program.name} to read your pipeline?` : `${program.name} cannot read anything`;
  return page(title, content, { formsLeave: 'redirect' in form.target, refused: problem !== undefined });
}

/** Any person can start a program and send its code to another one: RFC 8628, 5.4. */
const device = ({ userCode, address }: { userCode: string; address: string }): Html => html`<p>It shows the code
<strong>${userCode}</strong> and runs at the address <strong>${address}</strong>.</p>
<p class="warning"><strong>Check that you started it.</strong> The person who started the program gets the access. Continue only if
the code is on a screen of your own. Refuse if somebody sent it to you.</p>`;

/** Renders what is verified about the origin of a program's name. */
function origin({ program: { name, verifiedHost }, target }: ConsentForm): Html {
  if (verifiedHost === null) {
    return html`<p>The program calls itself <strong>${name}</strong>. Nobody has verified this name. Continue only if you
have just started this program yourself.</p>`;
  }
  const described = html`<p><strong>${name}</strong> is a program that <strong>${verifiedHost}</strong> describes.</p>`;
  if (!('redirect' in target) || !isOnThisDevice(target.redirect)) return described;
  return html`${described}
<p class="warning"><strong>Check that you started it.</strong> Access goes to a program on this device, not to
${verifiedHost}. Any program on your device can present itself as this one. Continue only if you have just started
${name} yourself.</p>`;
}

function decision(form: ConsentForm, only: Organisation): Html {
  const { action, formToken, account, program, organisations, lifetimes, problem, target } = form;
  const isOnly = organisations.length === 1;
  const whose = isOnly
    ? html`<p>${program.name} will be able to read the pipeline of <strong>${only.name}</strong> on your behalf
(${account.email}):</p>`
    : html`<p>${program.name} will be able to read the pipeline of one organisation on your behalf (${account.email}):</p>`;
  const choice = isOnly
    ? html`<input type="hidden" name="organisation" value="${only.externalId}">`
    : html`<fieldset${problem ? html` aria-describedby="problem"` : null}>
<legend>Which organisation may it read?</legend>
${organisations.map(option)}
</fieldset>`;
  return html`<form method="post" action="${action}" class="card">
<input type="hidden" name="form_token" value="${formToken}">${
    'userCode' in target
      ? html`
<input type="hidden" name="user_code" value="${target.userCode}">`
      : null
  }
<h2>What you allow</h2>
${whose}
<ul>
<li>the issues of the repositories that you can see, with their state and history,</li>
<li>the work in progress and the findings of agents,</li>
<li>the cost of the work.</li>
</ul>
<p>It cannot change anything, and it cannot read more than you can.</p>
<p>The connection lasts until you end it under Your connections. It expires after
${inWords(lifetimes.connectionSeconds)}, or when the program has not used it for ${inWords(lifetimes.refreshSeconds)}.</p>
${choice}
<div class="row">
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" class="plain" formnovalidate>Refuse</button>
</div>
</form>`;
}

const none = (): Html => html`${alert('Your account belongs to no organisation, so there is nothing to read.')}
<p>Ask the operator of this service to add you to an organisation.</p>`;

const anotherAccount = ({
  returnTo,
  formToken,
  account,
}: ConsentForm): Html => html`<form method="post" action="/account/logout">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="return_to" value="${returnTo}">
<p class="soft">You are logged in as ${account.email}.</p>
<button type="submit" class="plain">Use another account</button>
</form>`;

const option = ({ externalId, name }: Organisation) => html`<label>
<input type="radio" name="organisation" value="${externalId}" required>${name}</label>`;

/**
 * Returns whether the answer goes to a program on the device of the person, where nothing proves which program takes
 * it.
 */
export function isOnThisDevice(redirect: string): boolean {
  const { protocol, hostname } = new URL(redirect);
  return protocol !== 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Renders the receiver of the redirect, as people can judge it. */
function placeOf(redirect: string): Html {
  const { protocol, host } = new URL(redirect);
  if (protocol === 'https:') return html`<strong>${host}</strong>`;
  if (protocol === 'http:') return html`a program on this device`;
  return html`the program on this device that opens <code>${protocol}</code> addresses`;
}

const DAY = 24 * 3600;
const UNITS: readonly [seconds: number, one: string, many: string][] = [
  [365 * DAY, 'one year', 'years'],
  [DAY, 'one day', 'days'],
  [3600, 'one hour', 'hours'],
  [60, 'one minute', 'minutes'],
  [1, 'one second', 'seconds'],
];

/** A duration in its largest unit that divides it: "one year", "30 days". */
export function inWords(seconds: number): string {
  const [size, one, many] = UNITS.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [
    1,
    'one second',
    'seconds',
  ];
  const count = seconds / size;
  return count === 1 ? one : `${count} ${many}`;
}
