/** The values of the chart: what is wrong is refused before anything is installed, and the message names it. */
import { describe, expect, test } from '@jest/globals';
import { CHART, helm } from './helm.ts';

const refusal = (values: object): string => {
  const { status, stderr } = helm(['template', 'svc', CHART, '--values', '-'], JSON.stringify(values));
  expect(status).not.toBe(0);
  return stderr;
};

describe('helm refuses', () => {
  test.each<[string, object, RegExp]>([
    ['an unknown value', { hostedAPI: {} }, /hostedAPI/],
    ['an unknown setting', { hostedApi: { env: { LOG_LEVLE: 'debug' } } }, /hostedApi\/env.*LOG_LEVLE/s],
    [
      'a setting of the other service',
      { hostedApi: { env: { STREAMS_IN_ALL: 5 } } },
      /hostedApi\/env.*STREAMS_IN_ALL/s,
    ],
    ['a secret among the settings', { monitor: { env: { GITHUB_TOKEN: 'ghp_x' } } }, /monitor\/env.*GITHUB_TOKEN/s],
    ['a setting of the chart', { monitor: { env: { METRICS_PORT: 1 } } }, /monitor\/env.*METRICS_PORT/s],
    ['a secret as text', { hostedApi: { secrets: { OIDC_CLIENT_SECRET: 'x' } } }, /OIDC_CLIENT_SECRET/],
    ['no database', { monitor: { secrets: { DATABASE_URL: null } } }, /monitor\/secrets.*DATABASE_URL/s],
    ['a reference without a key', { migrate: { secrets: { DATABASE_URL: { key: '' } } } }, /DATABASE_URL\/key/],
    ['a number as text', { hostedApi: { replicas: 'two' } }, /hostedApi\/replicas.*integer/s],
    ['a digest of another form', { monitor: { image: { digest: 'latest' } } }, /monitor\/image\/digest/],
    ['a public address with a path', { hostedApi: { publicUrl: 'https://a.example.org/b' } }, /publicUrl/],
    ['a port that is none', { networkPolicy: { database: { ports: [70_000] } } }, /ports\/0.*65,?535/s],
    ['an ingress without a host', { monitor: { ingress: { enabled: true } } }, /monitor\.ingress\.host is required/],
    [
      'https without keys for the cookies',
      { hostedApi: { publicUrl: 'https://a.example.org', secrets: { OAUTH_COOKIE_KEYS: null } } },
      /hostedApi\.secrets\.OAUTH_COOKIE_KEYS is required/,
    ],
  ])('%s', (_, values, message) => {
    expect(refusal(values)).toMatch(message);
  });
});
