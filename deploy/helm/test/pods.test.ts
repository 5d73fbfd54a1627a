/** The containers that the chart renders: confined, with settings that the processes accept and routes that exist. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { hostedSurface, monitorSurface } from '../../../libs/contract/src/index.ts';
import { commonEnv, parseEnv } from '../../../libs/runtime/src/env.ts';
import { createMetrics, serveMetrics } from '../../../libs/runtime/src/metrics.ts';
import { withSecretFiles } from '../../../libs/runtime/src/secret-files.ts';
import { hostedEnv } from '../../../services/hosted-api/src/process/env.ts';
import { monitorEnv } from '../../../services/monitor/src/process/env.ts';
import { loadConfig } from '../../../services/monitor/src/settings/config.ts';
import { COMBINATIONS } from './combinations.ts';
import { ROOT, render } from './helm.ts';
import { type Container, containerOf, podsOf } from './pods.ts';

const rendered = Object.entries(COMBINATIONS).map(([name, values]) => [name, render(values)] as const);
const everything = render(COMBINATIONS.everything ?? {});
const folder = mkdtempSync(join(tmpdir(), 'chart-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Time within which the processes drain, as in docs/operations.md. */
const DRAIN_SECONDS = 10;
const SERVICES = {
  'hosted-api': { schema: hostedEnv, routes: hostedSurface.routes },
  monitor: { schema: monitorEnv, routes: monitorSurface.routes },
} as const;
const services = Object.keys(SERVICES) as (keyof typeof SERVICES)[];
const cases = rendered.flatMap(([name, manifests]) => services.map((service) => [service, name, manifests] as const));

describe.each(rendered)('pods: %s', (_, manifests) => {
  const pods = podsOf(manifests);

  test('do not run as root, have no token of the cluster and no variables of other Services', () => {
    for (const { spec } of pods) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(spec.securityContext.runAsUser).toBeGreaterThan(0);
      expect(spec).not.toMatchObject({ hostNetwork: true });
    }
  });

  test('containers have no privileges, a read-only root and resources', () => {
    for (const container of pods.flatMap(({ spec }) => spec.containers)) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(Object.keys(container.resources.requests)).toEqual(expect.arrayContaining(['cpu', 'memory']));
      expect(container.resources.limits).toHaveProperty('memory');
    }
  });

  test('mount volumes that exist', () => {
    for (const { spec } of pods) {
      const mounted = spec.containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
      expect(mounted.sort()).toEqual((spec.volumes ?? []).map(({ name }) => name).sort());
    }
  });
});

/** Contents of the mounted secrets; a service gets the same variables as in its pod. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://role:password@db.example.org/pipeline',
  DATABASE_DIRECT_URL: 'postgres://role:password@db.example.org/pipeline',
  OAUTH_COOKIE_KEYS: '0'.repeat(64),
  MONITOR_PASSWORD: 'a password',
};

/** Environment of a container, with the mounted files below `folder`. */
function environmentOf(container: Container): Record<string, string> {
  const entries = (container.env ?? []).map(({ name, value = '' }) => {
    if (!name.endsWith('_FILE')) return [name, value];
    const secret = name.slice(0, -'_FILE'.length);
    expect(value).toBe(`/run/secrets/pipeline/${secret}`);
    const file = join(folder, secret);
    writeFileSync(file, `${SECRETS[secret] ?? 'some text'}\n`);
    return [name, file];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

describe('settings', () => {
  test.each(cases)('the %s accepts its settings, required ones included: %s', (service, _, manifests) => {
    const environment = environmentOf(containerOf(manifests, service));
    const schema = z.object({ ...commonEnv, ...SERVICES[service].schema });
    expect(() => parseEnv(schema, withSecretFiles(environment))).not.toThrow();
  });

  test.each(cases)('the %s reads its settings: %s', (service, _, manifests) => {
    const container = containerOf(manifests, service);
    const names = (container.env ?? []).map(({ name }) => name.replace(/_FILE$/, ''));
    // The configuration names the variable of the password.
    const read = [...Object.keys({ ...commonEnv, ...SERVICES[service].schema }), 'MONITOR_PASSWORD'];
    expect(names.filter((name) => !read.includes(name))).toEqual([]);
  });

  test('each secret has the setting of its file once', () => {
    for (const [, manifests] of rendered) {
      for (const { spec } of podsOf(manifests).filter(({ component }) => component !== 'agent')) {
        const named = spec.containers.flatMap(({ env = [] }) => env.map(({ name }) => name));
        const files = spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
        const paths = files.flatMap(({ secret }) => secret.items.map(({ path }) => `${path}_FILE`));
        expect(named.filter((name) => name.endsWith('_FILE')).sort()).toEqual(paths.sort());
      }
    }
  });

  test('the settings of the migration are those that it reads', () => {
    const source = readFileSync(join(ROOT, 'libs/store/src/schema/migrate-main.ts'), 'utf8');
    const names = containerOf(everything, 'migrate').env?.map(({ name }) => name.replace(/_FILE$/, '')) ?? [];
    expect(names).toEqual(expect.arrayContaining(['DATABASE_URL', 'DATABASE_ROLE_PREFIX']));
    expect(names.filter((name) => !source.includes(`\n  ${name}:`))).toEqual([]);
  });

  test('large numbers have no exponent, and the process refuses a wrong value', () => {
    const environment = environmentOf(containerOf(everything, 'hosted-api'));
    expect(environment).toMatchObject({ ADDRESS_RATE_LIMIT: '10000000', TELL_STORE_DETAILS: 'true' });
    const schema = z.object({ ...commonEnv, ...hostedEnv });
    expect(() => parseEnv(schema, withSecretFiles({ ...environment, PORT: 'http' }))).toThrow('PORT');
  });

  test('follow from the ingress: public addresses, and one trusted proxy that the values override', () => {
    expect(environmentOf(containerOf(everything, 'hosted-api'))).toMatchObject({
      PUBLIC_URL: 'https://api.example.org',
      MONITOR_URL: 'https://monitor.example.org',
      TRUSTED_PROXIES: '1',
    });
    expect(environmentOf(containerOf(everything, 'monitor'))).toMatchObject({ TRUSTED_PROXIES: '2' });
    expect(environmentOf(containerOf(render({}), 'hosted-api'))).not.toHaveProperty('TRUSTED_PROXIES');
  });

  test.each([{}, COMBINATIONS.everything ?? {}])('include a configuration that the monitor loads', async (values) => {
    const configMap = render(values).find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('monitor'),
    );
    const file = join(folder, 'pipeline.yaml');
    writeFileSync(file, configMap?.data?.['pipeline.yaml'] ?? '');
    const { config } = await loadConfig(file, { MONITOR_PASSWORD: 'x' });
    expect(config.agents.monitor?.auth).toMatchObject({ username: 'operator', passwordEnv: 'MONITOR_PASSWORD' });
  });
});

describe('probes', () => {
  test.each(services)('probes of the %s request routes that need no login, on its port', (service) => {
    const { startupProbe, livenessProbe, readinessProbe, ports } = containerOf(everything, service);
    const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.path ?? '');
    expect(paths).toEqual(['/health', '/health', service === 'monitor' ? '/health' : '/ready']);
    const routes: readonly { path: string; auth: string }[] = SERVICES[service].routes;
    for (const path of paths) expect(routes.find((route) => route.path === path)?.auth).toBe('none');
    expect(ports?.find(({ name }) => name === 'http')?.containerPort).toBe(
      SERVICES[service].schema.PORT.parse(undefined),
    );
  });

  test.each(services)('probes of the metrics lead to what the %s serves', async (service) => {
    const { METRICS_PORT, METRICS_HOST } = environmentOf(containerOf(everything, service));
    const { ports } = containerOf(everything, service);
    expect(ports).toContainEqual({ name: 'metrics', containerPort: Number(METRICS_PORT) });
    expect(METRICS_HOST).toBe('0.0.0.0');
    const served = await serveMetrics(createMetrics({ processMetrics: false }).registry, {
      host: '127.0.0.1',
      port: 0,
    });
    try {
      const monitor = everything.find(({ kind }) => kind === 'ServiceMonitor');
      const path = (monitor?.spec as { endpoints: { path: string }[] } | undefined)?.endpoints[0]?.path;
      const answer = await fetch(`${served.url}${path}`, { headers: { connection: 'close' } });
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
    } finally {
      await served.close();
    }
  });
});

describe('replacing pods', () => {
  test.each(services)('leaves the %s time to end after the last request', (service) => {
    for (const preStopSeconds of [5, 30]) {
      const pod = podsOf(render({ preStopSeconds })).find(({ component }) => component === service);
      const preStop = pod?.spec.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
      expect(preStop).toBe(preStopSeconds);
      expect(pod?.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(preStop + DRAIN_SECONDS + 5);
    }
  });

  test.each(services)('keeps the number of ready pods of the %s, over nodes and zones', (service) => {
    const deployment = everything.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(service),
    );
    expect(deployment?.spec).toMatchObject({ strategy: { rollingUpdate: { maxUnavailable: 0 } } });
    const pod = podsOf(everything).find(({ component }) => component === service);
    const keys = pod?.spec.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
    expect(keys).toEqual(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
  });

  test('happens when the configuration changes', () => {
    const checksum = (values: object) => {
      const deployments = render(values).filter(({ kind }) => kind === 'Deployment');
      return /"checksum\/config":"(\w+)"/.exec(JSON.stringify(deployments))?.[1];
    };
    expect(checksum({})).toMatch(/^[0-9a-f]{64}$/);
    expect(checksum({})).toBe(checksum({}));
    expect(checksum({ monitor: { config: { costLimits: { dailyUsd: 5 } } } })).not.toBe(checksum({}));
  });
});

test('the images are those that compose builds', () => {
  const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  const built = Object.values(compose.services).map(({ image }) => image.split(':')[0]);
  const used = podsOf(render({ agent: { enabled: true } })).flatMap(({ spec }) =>
    spec.containers.map(({ image }) => image),
  );
  expect(used.filter((image) => !image.endsWith(':0.1.0'))).toEqual([]);
  expect(used.filter((image) => !built.includes(image.split(':')[0] ?? ''))).toEqual([]);
  const { image } = containerOf(everything, 'hosted-api');
  expect(image).toBe(`images.example.org/acme/pipeline-hosted-api@sha256:${'0'.repeat(64)}`);
  expect(containerOf(everything, 'monitor').image).toBe('images.example.org/acme/pipeline-monitor:0.1.0-rc.1');
});

test('a container of agents works on one task, in its own process namespace, and begins with empty folders', () => {
  const { command = [], args, volumeMounts = [] } = containerOf(everything, 'agent');
  expect(args).toContain('--once');
  const [emptying = ''] = (command[2] ?? '').split(';');
  expect(emptying.split(' ')).toEqual(expect.arrayContaining(volumeMounts.map(({ mountPath }) => mountPath)));
  const [spec] = podsOf(everything).flatMap((pod) => (pod.component === 'agent' ? [pod.spec] : []));
  expect(spec).not.toHaveProperty('shareProcessNamespace');
});

test('the first process of a container of agents is the worker, which removes the keys from its environment', () => {
  const { command = [] } = containerOf(everything, 'agent');
  expect(command[2]?.split('; ').at(-1)).toBe('exec node /app/bin/main.cjs "$@"');
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, object>;
  };
  // Without an init process and without another entry point than that of the image.
  expect(services.agent).toMatchObject({ init: false });
  expect(services.agent).not.toHaveProperty('entrypoint');
});

test('the proxy of agents compares names alone, and connects to no plain address', () => {
  const rules = readFileSync(join(ROOT, 'deploy/agent/squid.conf'), 'utf8').split('\n');
  expect(rules.filter((rule) => /^acl \S+ dst/.test(rule)).every((rule) => / dstdom\S+ -n /.test(rule))).toBe(true);
  const patterns = (rules.find((rule) => rule.startsWith('acl address '))?.split(' -n ')[1] ?? '').split(' ');
  const [first] = rules.filter((rule) => rule.startsWith('http_access'));
  expect(first).toBe('http_access deny address');
  const isAddress = (host: string) => patterns.some((pattern) => new RegExp(pattern).test(host));
  expect(['127.0.0.1', '2130706433', '[::1]', '::ffff:10.0.0.1'].filter((host) => !isAddress(host))).toEqual([]);
  expect(isAddress('api.anthropic.com')).toBe(false);
});
