import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { build, type Metafile } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/;

/** Libraries that a service loads when they are first used; their start would cost as much as the rest of it. */
const LAZY = ['@modelcontextprotocol/server', 'gpt-tokenizer', 'koa', 'oidc-provider'];

/** Packages whose modules a program runs before anything happens: reached from its entry without a dynamic import. */
function packagesAtStart({ inputs, outputs }: Metafile, entry: string): Set<string> {
  const written = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const kept = new Set(written.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file));
  const reached = new Set([entry]);
  for (const file of reached) {
    for (const { path, kind, external } of inputs[file]?.imports ?? []) {
      if (kind !== 'dynamic-import' && !external) reached.add(path);
    }
  }
  return new Set([...reached].filter((file) => kept.has(file)).flatMap((file) => PACKAGE.exec(file)?.[1] ?? []));
}

test.each(['hosted-api', 'monitor'])(
  '%s loads no library at its start that only some requests need',
  async (service) => {
    const entry = `services/${service}/src/main.ts`;
    const options = { absWorkingDir: ROOT, entryPoints: [entry], outdir: 'out', external: ['pg-native'] };
    const form = {
      bundle: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
    } as const;
    const { metafile } = await build({ ...options, ...form, define: { 'import.meta.url': 'bundleUrl' } });
    const packages = packagesAtStart(metafile, entry);
    expect(packages).toContain('express');
    expect(LAZY.filter((name) => packages.has(name))).toEqual([]);
  },
);
