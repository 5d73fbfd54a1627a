/** The hosted API with two providers of logins, OpenID Connect and GitHub, for the tests of a file. */
import { beforeEach } from '@jest/globals';
import { admin } from '@pipeline/engine';
import { closedWithFile } from '@pipeline/testing/closing';
import { createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { type Person, testOauth } from '../oauth/oauth-world.ts';
import { CLIENT, startOpenidProvider, type TestProvider } from '../support/openid-provider.ts';
import { Browser } from './browser.ts';

export const GITHUB = { clientId: 'Iv1.pipeline', clientSecret: 'secret of the OAuth app' };

export const heading = ({ text }: Browser) => /<h1>(.*?)<\/h1>/.exec(text)?.[1];

export function testProviders() {
  const env = { openid: undefined as unknown as TestProvider, github: undefined as unknown as SandboxEnvironment };

  const world = testOauth({}, async ({ url }) => {
    env.openid = await startOpenidProvider(`${url}/account/login/oidc/callback`);
    env.github = await createSandboxEnvironment({
      oauthApps: [{ name: 'Pipeline', ...GITHUB, callbackUrl: `${url}/account/login/github` }],
    });
    closedWithFile(() => env.github.end());
    const client = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
    return {
      identityProviders: {
        openid: { issuer: env.openid.issuer, ...client, clientAuthMethod: 'client_secret_basic', label: 'Example SSO' },
        github: { url: env.github.sandbox.url, ...GITHUB, label: 'GitHub' },
        limit: 0,
      },
    };
  });
  const { database } = world.hosting;

  let last = 0;
  /** A person at the OpenID Connect provider that is new. */
  const newPerson = (more: Record<string, unknown> = {}) => {
    last += 1;
    return { sub: `sub-${last}`, email: `p${last}@example.org`, email_verified: true, ...more };
  };
  const administrator = () => {
    const { owner: engine } = world.hosting.api;
    return { engine, actor: 'root', reason: null };
  };
  const link = (person: Person, subject: string, issuer = env.openid.issuer) =>
    admin.linkIdentityOf(administrator(), person.email, { issuer, subject, name: null });

  /** Begins a login. @returns the browser and the address of the provider. */
  const begin = async (path = '/account/login/oidc/start', browser = world.browser()) => {
    const at = await browser.open(path);
    if (!at) throw new Error(`not sent to a provider: ${browser.status} ${browser.text}`);
    return { browser, at };
  };
  /** Passes the provider's pages. @returns the callback. */
  const passProvider = async (at: URL): Promise<URL> => {
    const callback = await new Browser(env.openid.issuer, fetch).open(at.href);
    if (!callback) throw new Error('the provider sent the browser nowhere');
    return callback;
  };
  const logInWithOpenid = async (path?: string, browser?: Browser) => {
    const started = await begin(path, browser);
    const callback = await passProvider(started.at);
    const elsewhere = await started.browser.open(callback.href);
    return { browser: started.browser, callback, elsewhere };
  };
  const identities = () => database.db.selectFrom('user_identities').selectAll().execute();
  const sessions = () => database.db.selectFrom('user_sessions').selectAll().execute();

  beforeEach(() => {
    env.openid.isUp = true;
    env.openid.person = newPerson();
  });

  return { env, world, newPerson, administrator, link, begin, passProvider, logInWithOpenid, identities, sessions };
}
