import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  dynamicClientRegistration,
  None,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';

const USAGE = `usage: npm run -s connect -- URL
Connects to the hosted API at URL as a program of this computer: prints an address to open in a browser, and when
a user has logged in and allowed it there, an access token on standard output. It lives for ten minutes.
Exit status: 0 done, 1 no token, 2 wrong usage.
`;
const EXIT_USAGE = 2;
const PATH = '/callback';

async function main([url, ...more]: string[]): Promise<number> {
  if (url === '--help' || url === '-h') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (url === undefined || more.length > 0 || !URL.canParse(url)) {
    process.stderr.write(USAGE);
    return EXIT_USAGE;
  }
  try {
    process.stdout.write(`${await accessToken(new URL(url))}\n`);
    return 0;
  } catch (error) {
    const { error: code, error_description: description } = error as { error?: string; error_description?: string };
    const reason = [code, description].filter(Boolean).join(': ') || String((error as Error).cause ?? error);
    process.stderr.write(`could not get a token: ${reason}\n`);
    return 1;
  }
}

async function accessToken(api: URL): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
    const config = await register(api, redirect);
    const pkceCodeVerifier = randomPKCECodeVerifier();
    const expectedState = randomState();
    const authorization = buildAuthorizationUrl(config, {
      redirect_uri: redirect,
      code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      scope: 'pipeline:read',
    });
    process.stderr.write(`Open in a browser:\n  ${authorization.href}\n`);
    const callback = await calledBack(server, redirect);
    const tokens = await authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
    return tokens.access_token;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Plain http is for a stack on this machine; the server itself refuses to be reached by it from elsewhere. */
function register(api: URL, redirect: string): Promise<Configuration> {
  const execute = api.protocol === 'http:' ? [allowInsecureRequests] : [];
  const metadata = { client_name: 'npm run connect', redirect_uris: [redirect] };
  return dynamicClientRegistration(api, metadata, None(), { algorithm: 'oauth2', execute });
}

/** Waits until the browser comes back. @returns the address that it was sent to. */
function calledBack(server: ReturnType<typeof createServer>, redirect: string): Promise<URL> {
  return new Promise((resolve) => {
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', redirect);
      const isIt = url.pathname === PATH;
      response.writeHead(isIt ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(
        isIt ? 'Done. You may close this page; the token is in the terminal.\n' : 'Nothing is here.\n',
        () => {
          if (isIt) resolve(url);
        },
      );
    });
  });
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
