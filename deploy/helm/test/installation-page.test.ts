/**
 * The commands and the values of docs/install-kubernetes.md, without a cluster: kubectl prints the objects that it would
 * create, and helm renders the chart in place of installing it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { documentedBlock } from '../../../libs/testing/src/documents/documented-block.ts';
import { hostedEnv } from '../../../services/hosted-api/src/process/env.ts';
import { monitorEnv } from '../../../services/monitor/src/process/env.ts';
import { type Manifest, programFolder, ROOT, render } from './helm.ts';
import { podsOf } from './pods.ts';

const PAGE = 'docs/install-kubernetes.md';
const folder = mkdtempSync(join(tmpdir(), 'chart-page-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a block from the root of the repository, with programs that change nothing. @returns what it prints. */
function run(block: string): string {
  const programs = programFolder();
  const kubectl = programs === null ? 'command kubectl' : join(programs, 'kubectl');
  const helm = programs === null ? 'command helm' : join(programs, 'helm');
  const script = `set -eu
    kubectl() { echo ---; ${kubectl} "$@" --dry-run=client --output yaml; }
    helm() { while [ "$1" = upgrade ] || [ "$1" = --install ]; do shift; done; ${helm} template "$@"; }
    ${block.replaceAll('pipeline-values.yaml', join(folder, 'pipeline-values.yaml'))}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      KUBECONFIG: '/dev/null',
      GITHUB_APP_ID: '1',
      GITHUB_APP_PRIVATE_KEY: 'key',
      GITHUB_WEBHOOK_SECRET: 'secret',
    },
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

const objectsOf = (text: string) =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

/** Blocks of values on the page, by the first words after their start. */
const values = [...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/^( *)```yaml\n(.*?)^ *```$/gms)].map(
  ([, indent = '', text = '']) => parse(text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')) as object,
);

/** Decoded values of the Secrets that a block creates, by name and key. */
function secretsOf(block: string): Record<string, string> {
  const secrets = objectsOf(run(block)).filter(({ kind }) => kind === 'Secret');
  const entries = secrets.flatMap(({ metadata, data = {} }) =>
    Object.entries(data).map(([key, value]) => [
      `${metadata.namespace}/${metadata.name}/${key}`,
      Buffer.from(value, 'base64').toString(),
    ]),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Variables of the secrets of a component, with where each is. */
function references(manifests: readonly Manifest[], component: string): [variable: string, secret: string][] {
  const pod = podsOf(manifests).find((one) => one.component === component);
  const sources = pod?.spec.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
  return sources.flatMap(({ secret }) =>
    secret.items.map(({ key, path }): [string, string] => [path, `pipeline/${secret.name}/${key}`]),
  );
}

describe('the Secrets of the page', () => {
  const created = secretsOf(documentedBlock(PAGE, '   kubectl create namespace pipeline'));

  test('the Secrets have every key that the chart mounts by default, and no other', () => {
    const mounted = ['hosted-api', 'monitor', 'migrate'].flatMap((component) => references(render({}), component));
    expect(Object.keys(created).sort()).toEqual([...new Set(mounted.map(([, secret]) => secret))].sort());
  });

  test('the Secrets have values that the services accept', () => {
    for (const [component, schema] of [
      ['hosted-api', hostedEnv],
      ['monitor', monitorEnv],
    ] as const) {
      const variables = references(render({}), component).map(([variable, secret]) => [variable, created[secret]]);
      expect(z.object(schema).safeParse(Object.fromEntries(variables)).error).toBeUndefined();
    }
    const owner = created['pipeline/pipeline-owner/database-url'];
    expect(owner).toBe('postgres://pipeline:its-password@db.example.org:5432/pipeline');
  });

  test('let each service log in with the password that the migration sets', () => {
    for (const role of ['hosted-api', 'monitor']) {
      const password = created[`pipeline/pipeline-${role}/database-password`];
      const url = new URL(created[`pipeline/pipeline-${role}/database-url`] ?? '');
      expect([url.username, url.password]).toEqual([`pipeline_${role.replace('-', '_')}`, password]);
      expect(password).toMatch(/^[0-9a-f]{48}$/);
    }
  });

  test('the Secrets of the GitHub App are those of its values', () => {
    const app = secretsOf(documentedBlock(PAGE, '. deploy/env/github-app.env').replace(/^.*\n/, ''));
    const manifests = render(values[1] ?? {});
    const mounted = [...references(manifests, 'hosted-api'), ...references(manifests, 'monitor')];
    const ofApp = mounted.filter(([, secret]) => secret.includes('github-app'));
    expect(Object.keys(app).sort()).toEqual([...new Set(ofApp.map(([, secret]) => secret))].sort());
    expect(ofApp.map(([variable]) => variable).sort()).toEqual([
      'GITHUB_APP_ID',
      'GITHUB_APP_ID',
      'GITHUB_APP_PRIVATE_KEY',
      'GITHUB_APP_PRIVATE_KEY',
      'GITHUB_WEBHOOK_SECRET',
    ]);
  });
});

describe('the commands of the page', () => {
  test.each(['   helm upgrade --install pipeline', 'helm upgrade pipeline'])('install the chart: %s', (first) => {
    writeFileSync(join(folder, 'pipeline-values.yaml'), JSON.stringify(values[0]));
    const objects = objectsOf(run(documentedBlock(PAGE, first)));
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    // As the other commands of the page name them.
    expect(names).toEqual(
      expect.arrayContaining(['Deployment pipeline-monitor', 'Job pipeline-migrate', 'Ingress pipeline-hosted-api']),
    );
    expect(objects.every(({ metadata }) => metadata.namespace === 'pipeline')).toBe(true);
  });

  test('remove all hooks', () => {
    const command = documentedBlock(PAGE, 'helm --namespace pipeline uninstall').split('\n')[1] ?? '';
    const kinds = /delete (\S+) --selector (\S+)=(\S+)/.exec(command) ?? [];
    const hooks = render({}, 'pipeline', 'pipeline').filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    expect(kinds[1]?.split(',').sort()).toEqual(hooks.map(({ kind }) => kind.toLowerCase()).sort());
    for (const { metadata } of hooks) expect(metadata.labels?.[kinds[2] ?? '']).toBe(kinds[3]);
  });
});
