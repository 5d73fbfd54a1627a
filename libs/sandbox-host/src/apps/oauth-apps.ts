import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { OauthAppRecord } from '../state/app-records.ts';
import { GLOBAL, type Sandbox, type UserRecord } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';
import { hashOf } from './grants.ts';

export const NewOauthApp = z.object({
  name: z.string().min(1).max(34),
  clientId: z.string().min(8).max(40),
  clientSecret: z.string().min(16),
  /** Addresses below it may be redirected to. */
  callbackUrl: z.url({ protocol: /^https?$/ }),
});
export type NewOauthApp = z.input<typeof NewOauthApp>;

const CODE_LIVES_MS = 10 * 60_000;

/** Adds an OAuth app, or gives a known one new settings. */
export function addOauthApp(sandbox: Sandbox, input: NewOauthApp): OauthAppRecord {
  const { clientSecret, ...app } = NewOauthApp.parse(input);
  const { state } = sandbox;
  return change(sandbox, () => {
    const record = {
      ...app,
      id: oauthAppOf(sandbox, app.clientId)?.id ?? state.nextId(),
      secretHash: hashOf(clientSecret),
    };
    state.put('oauthApp', GLOBAL, record);
    return record;
  });
}

export const oauthAppOf = ({ state }: Sandbox, clientId: string): OauthAppRecord | undefined =>
  state.list('oauthApp', GLOBAL).find((app) => app.clientId === clientId);

/** Returns whether an app may be redirected there: the same origin, and its callback address or a path below it. */
export function isCallback({ callbackUrl }: OauthAppRecord, redirectUri: string): boolean {
  const [known, wanted] = [URL.parse(callbackUrl), URL.parse(redirectUri)];
  if (!known || wanted?.origin !== known.origin) return false;
  return wanted.pathname === known.pathname || wanted.pathname.startsWith(`${known.pathname.replace(/\/$/, '')}/`);
}

interface Authorization {
  app: OauthAppRecord;
  user: UserRecord;
  redirectUri: string;
  /** PKCE, S256; null = the app uses none. */
  challenge: string | null;
}

/** @returns a code, valid for ten minutes and one use. */
export function authorize(sandbox: Sandbox, { app, user, redirectUri, challenge }: Authorization): string {
  const code = randomBytes(10).toString('hex');
  change(sandbox, () => {
    const { state } = sandbox;
    state.put('oauthCode', GLOBAL, {
      id: state.nextId(),
      codeHash: hashOf(code),
      appId: app.id,
      login: user.login,
      redirectUri,
      challenge,
      createdAt: timestamp(sandbox),
    });
  });
  return code;
}

interface Exchange {
  client_id: string;
  client_secret: string;
  code: string;
  redirect_uri: string;
  code_verifier: string;
}

/** Exchanges a code for a token without scopes. @returns the host's code of the error for a wrong request. */
export function exchange(
  sandbox: Sandbox,
  request: Exchange,
): { token: string } | { error: keyof typeof EXCHANGE_ERRORS } {
  const { state } = sandbox;
  const app = oauthAppOf(sandbox, request.client_id);
  if (app?.secretHash !== hashOf(request.client_secret)) return { error: 'incorrect_client_credentials' };
  return change(sandbox, () => {
    const hash = hashOf(request.code);
    const found = state.list('oauthCode', GLOBAL).find(({ codeHash, appId }) => codeHash === hash && appId === app.id);
    if (!found) return { error: 'bad_verification_code' };
    state.remove('oauthCode', GLOBAL, found.id);
    if (sandbox.now().getTime() - Date.parse(found.createdAt) > CODE_LIVES_MS)
      return { error: 'bad_verification_code' };
    if (request.redirect_uri !== '' && request.redirect_uri !== found.redirectUri)
      return { error: 'redirect_uri_mismatch' };
    const challenge = createHash('sha256').update(request.code_verifier).digest('base64url');
    if (found.challenge !== null && found.challenge !== challenge) return { error: 'bad_verification_code' };
    const token = `gho_${randomBytes(27).toString('base64url')}`;
    state.put('oauthToken', GLOBAL, { id: state.nextId(), tokenHash: hashOf(token), login: found.login });
    return { token };
  });
}

/** Errors of the exchange in the host's words. */
export const EXCHANGE_ERRORS = {
  incorrect_client_credentials: 'The client_id and/or client_secret passed are incorrect.',
  bad_verification_code: 'The code passed is incorrect or expired.',
  redirect_uri_mismatch: 'The redirect_uri MUST match the registered callback URL for this application.',
} as const;

/** The user of a token of an OAuth app. */
export function userByOauthToken({ state }: Sandbox, token: string): UserRecord | undefined {
  if (!token.startsWith('gho_')) return undefined;
  const hash = hashOf(token);
  const found = state.list('oauthToken', GLOBAL).find(({ tokenHash }) => tokenHash === hash);
  return found && state.findUser(found.login);
}
