import { createHash } from 'node:crypto';
import type { Mutant, Passing } from './mutating-proxy.ts';

const CALLS = ['authorize', 'token', 'bootstrap'];
const REFRESHES = ['token', 'bootstrap'];
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Changes the redirect that leads to the program. */
const redirect =
  (change: (parameters: URLSearchParams) => void): NonNullable<Mutant['answer']> =>
  (answer) => {
    const location = answer.headers.get('location');
    if (!location?.includes('/callback')) return answer;
    const target = new URL(location);
    change(target.searchParams);
    const headers = new Headers(answer.headers);
    headers.set('location', target.href);
    return { ...answer, headers };
  };

/** Changes the JSON of issued tokens. */
const tokens =
  (change: (body: Record<string, unknown>, sent: URLSearchParams) => object): NonNullable<Mutant['answer']> =>
  (answer, _address, sent) =>
    answer.status === 200
      ? { ...answer, body: JSON.stringify(change(JSON.parse(answer.body), new URLSearchParams(sent))) }
      : answer;

/** Answers a grant that was used as it did the first time. */
function repeating(field: 'code' | 'refresh_token'): NonNullable<Mutant['answer']> {
  const first = new Map<string, Passing>();
  return (answer, _address, sent) => {
    const grant = new URLSearchParams(sent).get(field) ?? '';
    if (answer.status === 200) first.set(grant, answer);
    return first.get(grant) ?? answer;
  };
}

const withBody = (body: string, changes: Record<string, string>): string => {
  const fields = new URLSearchParams(body);
  for (const [name, value] of Object.entries(changes)) if (fields.has(name)) fields.set(name, value);
  return `${fields}`;
};

/** The service gets a good token in place of one of the given form. */
const letsIn =
  (form: RegExp, authorization: string): NonNullable<Mutant['request']> =>
  (headers) =>
    form.test(headers.get('authorization') ?? '') ? { headers: { authorization } } : {};

/** Mutants that only a login can find. */
export const oauthMutants = ({ bearer, password }: { bearer: string; password: string }): readonly Mutant[] => [
  {
    name: 'takes any verifier for a code',
    endpoints: CALLS,
    request: (_headers, address, body) =>
      address.startsWith('/oauth/authorize?')
        ? { address: address.replace(/code_challenge=[^&]*/, `code_challenge=${CHALLENGE}`) }
        : { body: withBody(body, { code_verifier: VERIFIER }) },
  },
  { name: 'takes a code twice', endpoints: CALLS, answer: repeating('code') },
  { name: 'takes a refresh token twice', endpoints: REFRESHES, answer: repeating('refresh_token') },
  {
    name: 'does not replace a refresh token',
    endpoints: REFRESHES,
    answer: tokens((body, sent) => ({ ...body, refresh_token: sent.get('refresh_token') ?? body.refresh_token })),
  },
  {
    name: 'takes refresh tokens for access tokens',
    endpoints: ['authorize', 'bootstrap'],
    request: letsIn(/mcp_rt_/, bearer),
  },
  {
    name: 'keeps access tokens when a refresh token was used twice',
    endpoints: REFRESHES,
    request: letsIn(/mcp_at_/, bearer),
  },
  {
    name: 'keeps access tokens when a code was used twice',
    endpoints: ['authorize', 'bootstrap'],
    request: letsIn(/mcp_at_/, bearer),
  },
  {
    name: 'keeps access tokens after a revocation',
    endpoints: ['revokeToken', 'bootstrap'],
    request: letsIn(/mcp_at_/, bearer),
  },
  {
    name: 'issues tokens without an expiry',
    endpoints: REFRESHES,
    answer: tokens(({ expires_in: _dropped, ...body }) => body),
  },
  {
    name: 'issues tokens of another form',
    endpoints: REFRESHES,
    answer: tokens((body) => ({ ...body, access_token: 'x' })),
  },
  {
    name: 'lets caches keep tokens',
    endpoints: REFRESHES,
    answer: (answer) => {
      const headers = new Headers(answer.headers);
      if (answer.status === 200) headers.delete('cache-control');
      return { ...answer, headers };
    },
  },
  {
    name: 'drops the state of an authorization request',
    endpoints: ['authorize', 'resumeAuthorization'],
    answer: redirect((parameters) => parameters.delete('state')),
  },
  {
    name: 'does not name the issuer of a code',
    endpoints: ['authorize', 'resumeAuthorization'],
    answer: redirect((parameters) => parameters.delete('iss')),
  },
  {
    name: 'gives a code although the user refused',
    endpoints: ['decideConsent', 'resumeAuthorization'],
    answer: redirect((parameters) => {
      if (parameters.get('error') === 'access_denied') parameters.set('code', 'x');
    }),
  },
  {
    name: 'says another error when the user refused',
    endpoints: ['decideConsent', 'resumeAuthorization'],
    answer: redirect((parameters) => {
      if (parameters.has('error')) parameters.set('error', 'server_error');
    }),
  },
  {
    name: 'asks for no PKCE',
    endpoints: ['decideConsent', 'authorize'],
    request: (_headers, address) =>
      address.includes('code_challenge=')
        ? {}
        : { address: `${address}&code_challenge=${CHALLENGE}&code_challenge_method=S256` },
  },
  {
    name: 'takes plain PKCE',
    endpoints: ['decideConsent', 'authorize'],
    request: (_headers, address) => ({ address: address.replace('method=plain', 'method=S256') }),
  },
  {
    name: 'takes any password',
    endpoints: ['decideConsent', 'logIn'],
    request: (_headers, _address, body) => ({ body: withBody(body, { password }) }),
  },
];
