/**
 * Makes the npm package of a program or of the client, which installs without this repository and without other packages.
 *
 *   npm run -s tarball -- agent|client|contract-tests [--out DIR]     by default dist/
 *
 * The last line is the path of the tarball: DIR/pipeline-<name>-<version>.tgz.
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const node = (script, ...args) =>
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, script), ...args], {
    stdio: 'inherit',
  });

/** The oldest version that has what the bundles use. */
const OLDEST_NODE = 22;

/** Fills the folder with what the package contains. */
const PACKAGES = {
  agent: (folder) => program('agent', folder),
  client: async (folder) => node('libs/client/scripts/build-main.ts', folder),
  'contract-tests': (folder) => program('contract-tests', folder),
};

const USAGE = `usage: npm run -s tarball -- ${Object.keys(PACKAGES).join('|')} [--out DIR]     by default dist/`;

const { values = {}, positionals = [], problem = null } = readArguments();
const [name = ''] = positionals;
if (values.help) {
  console.log(USAGE);
} else if (problem !== null || !Object.hasOwn(PACKAGES, name) || positionals.length !== 1) {
  console.error(problem === null ? USAGE : `${problem}\n${USAGE}`);
  process.exitCode = 2;
} else {
  const folder = await mkdtemp(join(tmpdir(), 'tarball-'));
  try {
    await PACKAGES[name](folder);
    console.log(await pack(folder, resolve(values.out ?? join(root, 'dist'))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The arguments, or what is wrong with them. */
function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { out: { type: 'string' }, help: { type: 'boolean' } } });
  } catch (error) {
    return { problem: error.message };
  }
}

/**
 * Returns the program that npm links: npm only warns of a version that is too old, and the bundle would fail with an
 * error of its own.
 */
function starter(command) {
  return `#!/usr/bin/env node
if (Number.parseInt(process.versions.node, 10) < ${OLDEST_NODE}) {
  console.error('${command} needs Node ${OLDEST_NODE} or later; this is Node ' + process.versions.node);
  process.exitCode = 78;
} else {
  require('./main.cjs');
}
`;
}

/** A bundled program. Its source maps stay behind. */
async function program(library, folder) {
  node('scripts/bundle.mjs', library, '--out', folder);
  const home = join(root, 'libs', library);
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  const { version, description, license, bin } = manifest;
  const { repository } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const published = {
    name: manifest.name,
    version,
    description,
    license,
    // npm compares it with the repository whose workflow publishes the package.
    repository: { ...repository, directory: `libs/${library}` },
    bin: Object.fromEntries(Object.keys(bin).map((command) => [command, 'bin/start.cjs'])),
    engines: { node: `>=${OLDEST_NODE}` },
    files: ['bin'],
  };
  const [command = ''] = Object.keys(bin);
  await writeFile(join(folder, 'bin/start.cjs'), starter(command), { mode: 0o755 });
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  for (const from of [join(home, 'README.md'), join(root, 'LICENSE')])
    await cp(from, join(folder, from.split('/').pop()));
}

async function pack(folder, out) {
  await mkdir(out, { recursive: true });
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', out], {
      cwd: folder,
      encoding: 'utf8',
    }),
  );
  return join(out, packed.filename);
}
