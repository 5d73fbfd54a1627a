/** The objects that the chart renders: valid for the API of Kubernetes, and consistent with each other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

import { parse } from 'yaml';
import { hostedSurface } from '../../../libs/contract/src/index.ts';
import { COMBINATIONS } from './combinations.ts';
import { CHART, helm, type Manifest, ROOT, render } from './helm.ts';
import { problemsOf } from './kubernetes-types.ts';
import { labelsMatch, podsOf } from './pods.ts';

const rendered = Object.entries(COMBINATIONS).map(([name, values]) => [name, render(values)] as const);
const everything = render(COMBINATIONS.everything ?? {});
const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((one) => one.kind === kind);
const named = (manifests: readonly Manifest[], kind: string, name: string) =>
  ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
const specOf = <T>(manifest: Manifest | undefined) => (manifest?.spec ?? {}) as T;

describe('the objects', () => {
  test('the objects are valid for Kubernetes, without unknown fields, in every combination of values', async () => {
    expect(await problemsOf(rendered.flatMap(([, manifests]) => manifests))).toEqual([]);
  });

  test('an object with an unknown field, a wrong type or a missing field would be reported', async () => {
    const deployment = named(everything, 'Deployment', 'svc-pipeline-hosted-api');
    const broken = (change: (text: string) => string) => JSON.parse(change(JSON.stringify(deployment))) as Manifest;
    const problems = await problemsOf([
      broken((text) => text.replace('"readinessProbe"', '"readynessProbe"')),
      broken((text) => text.replace(/"terminationGracePeriodSeconds":\d+/, '"terminationGracePeriodSeconds":"soon"')),
      broken((text) => text.replace('"containers"', '"boxes"')),
    ]);
    expect(problems.some((line) => /readynessProbe.* does not exist/.test(line))).toBe(true);
    expect(problems.some((line) => line.includes('terminationGracePeriodSeconds'))).toBe(true);
    expect(problems.some((line) => /boxes|'containers'/.test(line))).toBe(true);
  });

  test.each(Object.entries(COMBINATIONS))('pass the linter of helm: %s', (_, values) => {
    const { status, stdout, stderr } = helm(['lint', '--strict', CHART, '--values', '-'], JSON.stringify(values));
    expect([status, stdout.match(/^\[(WARNING|ERROR)\].*/gm), stderr]).toEqual([0, null, expect.any(String)]);
  });

  test('the objects include all kinds that the page names', () => {
    const kinds = new Set(everything.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'Pod',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ]);
  });

  test('differ in nothing but the namespace and the release between two installations', () => {
    const text = (namespace: string, release: string) =>
      JSON.stringify(render(COMBINATIONS.everything ?? {}, namespace, release)).replaceAll(namespace, 'NAMESPACE');
    expect(text('team-a', 'svc')).toBe(text('team-b', 'svc'));
    expect(everything.filter(({ metadata }) => metadata.namespace !== 'pipeline')).toEqual([]);
    const names = (release: string) =>
      render({}, 'pipeline', release).map(({ kind, metadata }) => kind + metadata.name);
    expect(names('one').filter((name) => names('two').includes(name))).toEqual([]);
  });

  test.each(rendered)('the names are unique and not too long: %s', (_, manifests) => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const longest = render(COMBINATIONS.everything ?? {}, 'pipeline', 'a'.repeat(53));
    expect(longest.filter(({ metadata }) => metadata.name.length > 63)).toEqual([]);
  });
});

describe('references between objects', () => {
  test.each(rendered)('lead to objects of the chart: %s', (combination, manifests) => {
    const pods = podsOf(manifests);
    const configMaps = pods.flatMap(
      ({ spec }) => spec.volumes?.flatMap(({ configMap }) => configMap?.name ?? []) ?? [],
    );
    const missing = configMaps.filter((name) => !named(manifests, 'ConfigMap', name));
    expect(missing).toEqual(combination === 'the least parts' ? ['mine'] : []);
    for (const { component, spec } of pods.filter(({ component: one }) => ['hosted-api', 'monitor'].includes(one))) {
      const account = named(manifests, 'ServiceAccount', spec.serviceAccountName ?? '');
      expect([component, account === undefined]).toEqual([component, combination === 'the least parts']);
    }
    for (const { spec } of ofKind(manifests, 'HorizontalPodAutoscaler')) {
      const { scaleTargetRef } = spec as { scaleTargetRef: { kind: string; name: string } };
      const target = named(manifests, scaleTargetRef.kind, scaleTargetRef.name);
      expect(specOf<object>(target)).not.toHaveProperty('replicas');
    }
  });

  test.each(rendered)('select the pods of one component: %s', (_, manifests) => {
    const selectorOf = ({ spec, kind }: Manifest) => {
      const { selector, podSelector } = spec as { selector?: unknown; podSelector?: unknown };
      const labels = kind === 'Service' ? selector : (selector ?? podSelector);
      return ((labels as { matchLabels?: object }).matchLabels ?? labels) as Record<string, string>;
    };
    const selecting = ['Service', 'PodDisruptionBudget', 'NetworkPolicy', 'Deployment'];
    for (const manifest of manifests.filter(({ kind }) => selecting.includes(kind))) {
      const selected = podsOf(manifests).filter(({ labels }) => labelsMatch(labels, selectorOf(manifest)));
      const components = selected.map(({ component }) => component);
      expect(components).toEqual([manifest.metadata.labels?.['app.kubernetes.io/component']]);
    }
    for (const manifest of ofKind(manifests, 'ServiceMonitor')) {
      const services = ofKind(manifests, 'Service').filter(({ metadata }) =>
        labelsMatch(metadata.labels ?? {}, selectorOf(manifest)),
      );
      expect(services.map(({ metadata }) => metadata.name)).toEqual([manifest.metadata.name]);
    }
  });

  test.each(rendered)('name ports that exist: %s', (_, manifests) => {
    for (const service of ofKind(manifests, 'Service')) {
      const { ports, selector } = specOf<{ ports: { targetPort: string }[]; selector: Record<string, string> }>(
        service,
      );
      const [pod] = podsOf(manifests).filter(({ labels }) => labelsMatch(labels, selector));
      const open = pod?.spec.containers.flatMap((container) => container.ports?.map(({ name }) => name) ?? []);
      expect(ports.map(({ targetPort }) => targetPort)).toEqual(open);
    }
    for (const ingress of ofKind(manifests, 'Ingress')) {
      for (const [, name = '', port = ''] of JSON.stringify(ingress.spec).matchAll(
        /"name":"([^"]+)","port":\{"name":"([^"]+)"/g,
      )) {
        const { ports } = specOf<{ ports: { name: string }[] }>(named(manifests, 'Service', name));
        expect(ports.map((one) => one.name)).toContain(port);
      }
    }
  });
});

describe('access', () => {
  test('no Secret is rendered, and no value of a secret variable', () => {
    for (const [, manifests] of rendered) {
      expect(ofKind(manifests, 'Secret')).toEqual([]);
      expect(JSON.stringify(manifests)).not.toMatch(/postgres(ql)?:\/\//);
    }
  });

  test('the metrics of the monitor are not reached through its ingress', () => {
    const { rules } = specOf<{ rules: { http: { paths: { path: string; backend: unknown }[] } }[] }>(
      named(everything, 'Ingress', 'svc-pipeline-monitor'),
    );
    const backends = rules[0]?.http.paths.map(({ path, backend }) => [path, JSON.stringify(backend)]);
    expect(backends).toEqual([
      ['/', expect.stringContaining('svc-pipeline-monitor')],
      ['/prometheus', expect.stringContaining('svc-pipeline-hosted-api')],
    ]);
    expect(hostedSurface.routes.filter(({ path }) => path.startsWith('/prometheus'))).toEqual([]);
  });

  test('an agent reaches the hosted API and the proxy alone', () => {
    const { egress, ingress } = specOf<{
      egress: { to?: { podSelector: { matchLabels: object } }[]; ports: unknown }[];
      ingress: unknown;
    }>(named(everything, 'NetworkPolicy', 'svc-pipeline-agent'));
    const component = (to: unknown) => /"app.kubernetes.io\/component":"([^"]+)"/.exec(JSON.stringify(to))?.[1];
    expect(egress.map(({ to, ports }) => [component(to ?? null) ?? 'anywhere', ports])).toEqual([
      [
        'anywhere',
        [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      ],
      ['hosted-api', [{ port: 'http', protocol: 'TCP' }]],
      ['agent-proxy', [{ port: 'proxy', protocol: 'TCP' }]],
    ]);
    expect(ingress).toEqual([]);
  });

  test('the proxy allows the same hosts as that of compose', () => {
    const { data } = named(render({ agent: { enabled: true } }), 'ConfigMap', 'svc-pipeline-agent-proxy') ?? {};
    const hosts = readFileSync(join(ROOT, 'deploy/agent/egress.txt'), 'utf8');
    expect(data?.['egress.txt']).toBe(hosts);
  });

  test('the ports of the metrics are closed without metricsFrom', () => {
    const policies = (manifests: readonly Manifest[]) => JSON.stringify(ofKind(manifests, 'NetworkPolicy'));
    expect(policies(render({}))).not.toContain('"port":"metrics"');
    expect(policies(everything)).toContain('"port":"metrics"');
  });
});

describe('the migration', () => {
  test('runs before the release changes, after its network policy', () => {
    const hooks = everything.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.startsWith('pre-'));
    expect(hooks.map(({ kind, metadata }) => [kind, metadata.annotations]).sort()).toEqual([
      ['Job', expect.objectContaining({ 'helm.sh/hook': 'pre-install,pre-upgrade', 'helm.sh/hook-weight': '0' })],
      ['NetworkPolicy', expect.objectContaining({ 'helm.sh/hook-weight': '-10' })],
    ]);
  });

  test('needs no object of the chart, which does not exist yet', () => {
    const own = render({}).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined);
    const [job] = render({}).filter(({ kind }) => kind === 'Job');
    const text = JSON.stringify(job?.spec);
    for (const kind of ['ConfigMap', 'ServiceAccount'])
      for (const { metadata } of ofKind(own, kind)) expect(text).not.toContain(`"${metadata.name}"`);
  });
});

test('the chart has the version of the product', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version });
});
