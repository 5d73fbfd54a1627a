import type { AuthKind } from '@pipeline/contract';

/** A client of the hosted API that gets tokens without a browser. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
}

/** A user of the hosted API, who logs in at its login page. */
export interface UserLogin {
  email: string;
  password: string;
}

/** Secrets that the command line gives for one surface. Absent = not given. */
export interface GivenSecrets {
  /** The current access token of a connection. */
  token?: () => string;
  /** Its client, where it may get further tokens. */
  client?: ClientCredentials;
  login?: UserLogin;
  workerToken?: string;
  operator?: { username: string; password: string };
  /** Tokens that must be refused: expired, revoked, of another resource. */
  refusedTokens: readonly string[];
  /** Signs deliveries of the version-control host. */
  webhookSecret?: string;
}

/** Headers that prove who calls, or fail to. */
export interface Credential {
  name: string;
  headers: Readonly<Record<string, string>>;
  /** A well-formed guess: targets limit how many failed ones they take. */
  isGuess?: true;
  /** The body is signed with the webhook secret. */
  signs?: true;
  /** Placeholders for the secret in a printed command. */
  shown: Readonly<Record<string, string>>;
}

export interface CredentialMatrix {
  /** Accepted for the kind; empty when none was given. */
  good(kind: AuthKind): readonly Credential[];
  /** Must be refused with 401 or 403. */
  bad(kind: AuthKind): readonly Credential[];
}

const GIVEN_BY: Readonly<Record<AuthKind, string>> = {
  connection: 'access token of a connection was given (--client-id, or PIPELINE_TOKEN)',
  worker: 'worker token was given (PIPELINE_WORKER_TOKEN)',
  operator: 'operator was given (--user, and MONITOR_PASSWORD)',
  signature: 'webhook secret was given (PIPELINE_WEBHOOK_SECRET)',
  session: 'browser session of a customer can be given',
  none: 'credential was given',
};

/** The reason to skip what needs a credential of this kind. */
export const noCredential = (kind: AuthKind): string => `no ${GIVEN_BY[kind]}`;

export const bearer = (name: string, token: string, variable: string): Credential => ({
  name,
  headers: { authorization: `Bearer ${token}` },
  shown: { authorization: `Bearer $${variable}` },
});

/** Read for each request, because it is renewed. */
const accessToken = (current: () => string): Credential => ({
  ...bearer('access token', '', 'TOKEN'),
  get headers() {
    return { authorization: `Bearer ${current()}` };
  },
});

const literal = (name: string, headers: Record<string, string>): Credential => ({ name, headers, shown: headers });

const basicHeader = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const NONE = literal('none', {});

const MALFORMED: readonly Credential[] = [
  literal('empty scheme', { authorization: 'Bearer' }),
  literal('two tokens', { authorization: 'Bearer a b' }),
  literal('unknown scheme', { authorization: 'Token x' }),
  literal('not base64', { authorization: 'Basic ~~~' }),
  literal('basic without colon', { authorization: `Basic ${Buffer.from('nobody').toString('base64')}` }),
  literal('long token', { authorization: `Bearer ${'a'.repeat(4_000)}` }),
  literal('bytes', { authorization: 'Bearer \u00e4\u00ff' }),
];

/** @param sessions session cookies of the monitor: one that is open and one that was ended. */
export function credentialMatrix(
  given: GivenSecrets,
  sessions: { open?: string; ended?: string } = {},
): CredentialMatrix {
  const { token, workerToken, operator } = given;
  const connection = token === undefined ? [] : [accessToken(token)];
  const worker = workerToken === undefined ? [] : [bearer('worker token', workerToken, 'WORKER_TOKEN')];
  const basic = operator === undefined ? [] : [basicOf(operator)];
  const session = sessions.open === undefined ? [] : [cookie('session', sessions.open)];
  const refused = given.refusedTokens.map((one, index) => bearer(`refused token ${index + 1}`, one, 'REFUSED_TOKEN'));
  const ended = sessions.ended === undefined ? [] : [cookie('ended session', sessions.ended)];
  const unknown = [
    bearer('unknown access token', `mcp_at_${'A'.repeat(43)}`, 'UNKNOWN_TOKEN'),
    bearer('unknown worker token', `wrk_at_${'A'.repeat(43)}`, 'UNKNOWN_TOKEN'),
    cookie('unknown session', 'A'.repeat(43)),
  ];
  const common = [NONE, ...MALFORMED, ...unknown, ...refused, ...ended];
  const guess: Credential = {
    ...literal('wrong password', { authorization: basicHeader('pipeline-contract', 'wrong') }),
    isGuess: true,
  };
  const signed: Credential[] = given.webhookSecret === undefined ? [] : [{ ...literal('signature', {}), signs: true }];
  const signature = literal('wrong signature', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` });
  const unsigned = literal('malformed signature', { 'x-hub-signature-256': 'sha256=' });
  return {
    good(kind) {
      if (kind === 'operator') return [...basic, ...session];
      if (kind === 'worker') return worker;
      if (kind === 'connection') return connection;
      // Browser sessions of customers begin with a form.
      if (kind === 'session') return [];
      return kind === 'none' ? [NONE] : signed;
    },
    bad(kind) {
      if (kind === 'none') return [];
      if (kind === 'signature') return [NONE, signature, unsigned];
      if (kind === 'operator') return [...common, guess, ...connection, ...worker];
      return [...common, ...(kind === 'worker' ? connection : worker), ...basic, ...session];
    },
  };
}

function basicOf({ username, password }: { username: string; password: string }): Credential {
  return {
    name: 'basic',
    headers: { authorization: basicHeader(username, password) },
    shown: { authorization: 'Basic $(printf %s "$MONITOR_USER:$MONITOR_PASSWORD" | base64 -w0)' },
  };
}

const cookie = (name: string, value: string): Credential => ({
  name,
  headers: { cookie: `SVC_SESSION=${value}` },
  shown: { cookie: 'SVC_SESSION=$SESSION' },
});
