import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '../../..');
/** Where the services' own sources begin. */
export type ServiceName = 'hosted-api' | 'monitor';

/** Packages bundled as CommonJS ask for `require`, which an ES module does not have. */
const BANNER = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);`;

/**
 * Bundles a service into one file, as its container runs it: nothing of node_modules is read at its start.
 * @returns the path of the file.
 */
export async function buildService(name: ServiceName, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [join(ROOT, 'services', name, 'src/main.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    banner: { js: BANNER },
    external: ['pg-native'],
    logLevel: 'error',
  });
  return outfile;
}
