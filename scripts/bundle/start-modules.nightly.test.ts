import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { build, type Metafile, type Plugin } from 'esbuild';
import { fewTypes, noExemplars, unused } from './plugins.mjs';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/;

/** Libraries that a service loads when they are first used; their start would cost as much as the rest of it. */
const LAZY = ['@modelcontextprotocol/server', '@octokit/rest', 'bottleneck', 'gpt-tokenizer', 'koa', 'oidc-provider'];

/**
 * Libraries of parts that services leave out: of bodies, queries and files of express, of output for debugging, colours
 * and exemplars.
 */
const UNUSED = ['@opentelemetry/api', '@so-ric/colorspace', 'iconv-lite', 'raw-body', 'side-channel', 'supports-color'];

/** Uses of the parts that are left out. */
const USES =
  /\bexpress\.(?:json|urlencoded|raw|text|static)\b|\.(?:sendFile|download)\(|'query parser', (?!false)|\bPushgateway\b|\benableExemplars\b|\bRateLimiter(?!Memory\b|Res\b)[A-Z]/;

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

async function metafileOf(entry: string): Promise<Metafile> {
  const options = { absWorkingDir: ROOT, entryPoints: [entry], outdir: 'out', external: ['pg-native'] };
  const form = {
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  } as const;
  const define = { 'import.meta.url': 'bundleUrl' };
  const { metafile } = await build({ ...options, ...form, define, plugins: [unused, fewTypes, noExemplars] });
  return metafile;
}

describe.each(['hosted-api', 'monitor'])('%s', (service) => {
  const entry = `services/${service}/src/main.ts`;
  let metafile: Metafile;

  beforeAll(async () => {
    metafile = await metafileOf(entry);
  });

  test('loads no library at its start that only some requests need', () => {
    const packages = packagesAtStart(metafile, entry);
    expect(packages).toContain('express');
    expect([...LAZY, ...UNUSED].filter((name) => packages.has(name))).toEqual([]);
  });

  test('uses no part of a library that its program leaves out', async () => {
    const sources = Object.keys(metafile.inputs).filter((file) => /^(?:libs|services)\//.test(file));
    expect(sources.length).toBeGreaterThan(100);
    const texts = await Promise.all(sources.map((file) => readFile(join(ROOT, file), 'utf8')));
    expect(sources.filter((_, at) => USES.test(texts[at] ?? ''))).toEqual([]);
  });
});

test('maps the content types of everything that pages are made of', async () => {
  const [few, all] = [await contentTypes([fewTypes]), await contentTypes([])];
  const names = ['html', 'js', 'css', 'svg', 'png', 'jpg', 'webp', 'json', 'woff2', 'txt', 'wasm'];
  expect(names.map(few)).toEqual(names.map(all));
  expect([few('odt'), all('odt')]).toEqual([false, 'application/vnd.oasis.opendocument.text']);
});

type ContentTypes = (name: string) => string | false;

/** The look-up of content types in a program that is bundled with these plugins. */
async function contentTypes(plugins: Plugin[]): Promise<ContentTypes> {
  const stdin = {
    contents: "module.exports = require('mime-types').contentType;",
    resolveDir: join(ROOT, 'libs/http'),
  };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, platform: 'node', plugins });
  const module = { exports: (() => false) as ContentTypes };
  runInThisContext(`(function (module, require) { ${outputFiles[0]?.text}\n})`)(module, builtin);
  return module.exports;
}

/** Loads modules of Node. */
const builtin = (name: string) => process.getBuiltinModule(name);
