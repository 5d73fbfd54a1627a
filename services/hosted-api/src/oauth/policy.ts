import type { OauthLibrary } from './library.ts';

/**
 * Every authorization asks who is there and whether they agree, and both are answered in one step: sessions of the
 * product are the only ones, and each consent makes a connection of its own.
 */
export const askEachTime = ({ interactionPolicy: { Check, Prompt } }: OauthLibrary) => [
  new Prompt(
    { name: 'login', requestable: true },
    new Check('not_logged_in', 'a login is required', 'login_required', (ctx) => !ctx.oidc.result?.login),
  ),
  new Prompt(
    { name: 'consent', requestable: true },
    new Check('not_agreed', 'consent is required', 'consent_required', (ctx) => !ctx.oidc.result?.consent),
  ),
];
