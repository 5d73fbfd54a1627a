import { expect, test } from '@jest/globals';
import { Probe, postForm } from '../src/checks/probe.ts';
import { curlOfCase } from '../src/report/curl-of-case.ts';
import { credentialMatrix } from '../src/target/credentials.ts';
import { curlCommand } from '../src/target/curl.ts';
import { addressOf } from '../src/target/planned-request.ts';
import { Target } from '../src/target/target.ts';
import { surface } from './lying-server.ts';

const target = new Target({ url: 'http://127.0.0.1:1', surface, timeoutMs: 1, longestRetrySeconds: 0 });
const secrets = { token: () => 'mcp_at_secret', workerToken: 'wrk_at_secret', refusedTokens: ['mcp_at_old'] };
const operator = { username: 'olga', password: 'p4ssw0rd' };
const matrix = credentialMatrix({ ...secrets, operator }, { open: 'cookie1', ended: 'cookie2' });
const [, makeThing] = surface.routes;
const request = {
  route: makeThing,
  params: {},
  query: [['a', "b'c"]] as const,
  headers: {},
  body: `{"x":"'\\\u0000😀"}`,
};

test('a printed command holds no secret, whatever the credential', () => {
  const credentials = (['operator', 'worker', 'connection', 'signature'] as const).flatMap((kind) => [
    ...matrix.good(kind),
    ...matrix.bad(kind),
  ]);
  const hidden = ['mcp_at_secret', 'wrk_at_secret', 'mcp_at_old', 'cookie1', 'cookie2', 'p4ssw0rd'];
  const basic = Buffer.from('olga:p4ssw0rd').toString('base64');
  for (const credential of credentials) {
    const one = { request, caller: { credential, isGood: true }, expectation: { kind: 'valid' as const } };
    const command = curlOfCase(target, one);
    expect(command).toContain(`curl -i -X POST 'http://127.0.0.1:1${addressOf(request)}'`);
    expect([...hidden, basic].filter((secret) => command.includes(secret))).toEqual([]);
  }
});

test('a body with quotes and control characters is escaped for the shell', () => {
  const [credential] = matrix.bad('worker');
  if (!credential) throw new Error('no credential');
  const one = { request, caller: { credential, isGood: false }, expectation: { kind: 'valid' as const } };
  expect(curlOfCase(target, one)).toContain(String.raw`--data-binary $'{"x":"\u0027\\\u0000\U0001f600"}'`);
});

test('a printed form has variables in place of passwords, codes and tokens', async () => {
  const probe = new Probe({ target, matrix });
  const fields = { email: 'a"`$b@example.org', password: 'p4ssw0rd', code: 'secret1', refresh_token: 'secret2' };
  await expect(postForm(probe, '/login', fields)).rejects.toThrow();
  const { request: sent, credential } = probe.last ?? { request: undefined, credential: undefined };
  if (!sent || !credential) throw new Error('nothing was sent');
  expect(sent.body).toContain('password=p4ssw0rd');
  const command = curlCommand(target.url, sent, credential);
  expect(command).toContain(
    '--data-binary "email=a%22%60%24b%40example.org&password=$PASSWORD&code=$CODE&refresh_token=$REFRESH_TOKEN"',
  );
});
