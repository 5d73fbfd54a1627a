/**
 * Builds the package that programs install: one ES module, its types, and a manifest without dependencies.
 *
 *   node libs/client/scripts/build-main.ts [FOLDER]     by default dist/client
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import manifest from '../package.json' with { type: 'json' };
import { documentOf, SURFACES } from './documents.ts';
import { operationTypes } from './operation-types.ts';

const home = join(import.meta.dirname, '..');
const root = join(home, '../..');

await buildPackage(resolve(process.argv[2] ?? join(root, 'dist/client')));

async function buildPackage(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await build({
    absWorkingDir: home,
    entryPoints: ['src/index.ts'],
    outfile: join(out, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    legalComments: 'linked',
    logLevel: 'warning',
  });
  await declareTypes(out);
  for (const surface of SURFACES) await writeFile(join(out, `${surface}.d.ts`), operationTypes(documentOf(surface)));
  await cp(join(home, 'scripts/index.d.ts.txt'), join(out, 'index.d.ts'));
  await cp(join(home, 'README.md'), join(out, 'README.md'));
  await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));
  await writeFile(join(out, 'package.json'), `${JSON.stringify(await published(), null, 2)}\n`);
}

/** Types of the sources, beside which `index.d.ts` names the types of both surfaces. */
async function declareTypes(out: string): Promise<void> {
  const folder = join(out, 'types');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--project', join(home, 'scripts/tsconfig.build.json'), '--outDir', folder];
  execFileSync(process.execPath, [tsc, ...options], { stdio: 'inherit' });
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(join(folder, name), text.replaceAll(/(from '\.\/[\w.-]+)\.ts'/g, "$1.js'"));
  }
}

async function published() {
  const { name, version, description, license } = manifest;
  const { repository } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return {
    name,
    version,
    description,
    license,
    // npm compares it with the repository whose workflow publishes the package.
    repository: { ...repository, directory: 'libs/client' },
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    files: ['*.js', '*.d.ts', 'types', '*.LEGAL.txt'],
  };
}
