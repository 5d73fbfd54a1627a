/** Builds everything that a release publishes into one folder. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { create } from 'tar';
import manifest from '../../package.json' with { type: 'json' };
import { OPENAPI_DOCUMENTS } from './api-version.ts';
import { releaseNotes } from './changelog.ts';
import { packChart } from './chart.ts';
import { git, node, output } from './commands.ts';
import { productVersion, repositoryUrl } from './versions.ts';

const NPM_PACKAGES = ['agent', 'client', 'contract-tests'] as const;

/** The programs that ship their packages within one file, with the workspaces whose production dependencies they bundle. */
const BUNDLES: Readonly<Record<string, readonly string[]>> = {
  agent: ['libs/agent'],
  client: ['libs/client'],
  'contract-tests': ['libs/contract-tests'],
  'hosted-api': ['services/hosted-api', 'services/hosted-api/web', 'libs/cli'],
  migrate: ['libs/store', 'libs/engine', 'libs/cli'],
  monitor: ['services/monitor', 'services/monitor/web', 'libs/cli'],
};

export interface Artifact {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

const CHECKSUMS = 'SHA256SUMS';

/**
 * Builds the files of a release into an empty folder, with their checksums.
 * @param log gets a line before each step.
 */
export async function buildArtifacts(root: string, out: string, log: (line: string) => void): Promise<Artifact[]> {
  const version = productVersion(root);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const name of NPM_PACKAGES) {
    log(`npm package ${name}`);
    node(root, 'scripts/tarball.mjs', name, '--out', out);
  }
  log('chart');
  if (!(await packChart(root, out, version))) log('  skipped: the repository has no chart');
  for (const path of OPENAPI_DOCUMENTS) cpSync(join(root, path), join(out, basename(path)));
  log('software bills of materials');
  for (const [name, folders] of Object.entries(BUNDLES)) writeSbom(root, join(out, `sbom-${name}.cdx.json`), folders);
  log('documentation site');
  await packSite(root, out, version);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(out, 'release-notes.md'), releaseNotes(changelog, version, repositoryUrl(root)));
  const artifacts = readdirSync(out)
    .sort()
    .map((file) => artifactOf(out, file));
  writeFileSync(join(out, CHECKSUMS), artifacts.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(''));
  return [...artifacts, artifactOf(out, CHECKSUMS)];
}

/** CycloneDX, from the lockfile: scanners find no packages in a bundle. */
function writeSbom(root: string, file: string, folders: readonly string[]): void {
  const filters = folders.flatMap((folder) => ['--filter', `./${folder}`]);
  const options = [
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--lockfile-only',
    '--prod',
    '--out',
    file,
  ];
  output(root, 'npx', ['--yes', manifest.packageManager, ...filters, 'sbom', ...options]);
}

async function packSite(root: string, out: string, version: string): Promise<void> {
  const name = `pipeline-site-${version}`;
  const folder = join(out, name);
  node(root, 'scripts/bootstrap.mjs', 'site', folder);
  const mtime = new Date(git(root, 'log', '-1', '--format=%cI'));
  await create({ cwd: out, file: join(out, `${name}.tar.gz`), gzip: true, portable: true, mtime }, [name]);
  rmSync(folder, { recursive: true });
}

function artifactOf(out: string, file: string): Artifact {
  const path = join(out, file);
  return { file, bytes: statSync(path).size, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') };
}
