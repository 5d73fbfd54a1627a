/**
 * Bundles a process into one file that needs nothing but Node: what the container images run.
 *
 *   node scripts/bundle.mjs hosted-api|monitor|migrate|agent|contract-tests|demo [--out DIR]     by default dist/<name>
 *
 * DIR/bin/main.cjs is the program; large libraries that few requests need are files beside it. DIR/maps has the source maps, kept aside because reading them costs start time;
 * DIR/web/dist is the built dashboard, where the process serves one. CommonJS, because an ES module that imports
 * node:http pays for every lazy export of it, undici among them: 20 ms of each start.
 */
import { execFileSync } from 'node:child_process';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** The command for operators goes with every image: what is running is what they can reach. */
const pipeline = 'libs/cli/src/main.ts';

/** Programs of each image by the name of their file, the package of the pages that `main` serves, and a folder that it reads. */
const IMAGES = {
  'hosted-api': { programs: { main: 'services/hosted-api/src/main.ts', pipeline }, web: 'services/hosted-api/web' },
  monitor: { programs: { main: 'services/monitor/src/main.ts', pipeline }, web: 'services/monitor/web' },
  migrate: {
    programs: {
      main: 'libs/store/src/schema/migrate-main.ts',
      'worker-token': 'libs/engine/src/accounts/worker-token-main.ts',
      pipeline,
    },
  },
  'contract-tests': { programs: { main: 'libs/contract-tests/src/main.ts' } },
  agent: { programs: { main: 'libs/agent/src/main.ts' }, files: 'libs/agent/src/prompts/templates' },
  demo: {
    programs: {
      'sandbox-host': 'libs/sandbox-host/src/main.ts',
      'sample-repo': 'libs/stack/src/repos/sample-repo-main.ts',
      people: 'libs/stack/src/simulation/main.ts',
      agent: 'libs/agent/src/main.ts',
      'scripted-agent': 'libs/testing/src/scripted-agent/main.ts',
      script: 'libs/stack/src/demo/script.ts',
    },
    files: 'libs/agent/src/prompts/templates',
    // The scripted agent imports its script, and some of these programs have await at their top level.
    format: 'esm',
  },
};

/** Large libraries that are loaded when they are first needed, by their import; each becomes a file beside the program. */
const APART = {
  '@modelcontextprotocol/server': 'mcp',
  'gpt-tokenizer/encoding/o200k_base': 'tokenizer',
  'oidc-provider': 'oauth',
};

const MODULES = {
  // CommonJS has no import.meta; files beside the program are found by its own place.
  cjs: {
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
  },
  // Libraries that are CommonJS require the modules of Node.
  esm: { banner: { js: 'const require = (await import("node:module")).createRequire(import.meta.url);' } },
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } });
const [name = ''] = positionals;
if (!Object.hasOwn(IMAGES, name) || positionals.length !== 1) {
  console.error(`usage: node scripts/bundle.mjs ${Object.keys(IMAGES).join('|')} [--out DIR]`);
  process.exitCode = 2;
} else {
  await bundle(IMAGES[name], resolve(values.out ?? join(root, 'dist', name)));
}

async function bundle({ programs, web, files, format = 'cjs' }, out) {
  const bin = join(out, 'bin');
  const maps = join(out, 'maps');
  for (const folder of [bin, maps]) await rm(folder, { recursive: true, force: true });
  await mkdir(maps, { recursive: true });
  const separate = apart();
  const options = optionsOf(format, bin);
  const outputs = await built({
    ...options,
    entryPoints: programs,
    plugins: [separate.plugin],
  });
  // The OAuth library finds its models by the names of their classes. Elsewhere to set them would cost each request as well.
  const libraries = separate.entryPoints(outputs);
  if (Object.keys(libraries).length > 0) {
    Object.assign(outputs, await built({ ...options, entryPoints: libraries, keepNames: true }));
  }
  for (const [file, { bytes }] of Object.entries(outputs)) {
    if (file.endsWith('.map')) await rename(join(root, file), join(maps, basename(file)));
    else console.log(`${file} ${(bytes / 1e6).toFixed(2)} MB`);
  }
  // Read beside the program.
  if (files !== undefined) await cp(join(root, files), join(bin, basename(files)), { recursive: true });
  if (web === undefined) return;
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, web, 'scripts/build-main.ts')], {
    stdio: 'inherit',
  });
  await cp(join(root, web, 'dist'), join(out, 'web', 'dist'), { recursive: true });
}

/** @returns what was written, by path from the root. */
async function built(options) {
  return (await build(options)).metafile.outputs;
}

function optionsOf(format, outdir) {
  return {
    absWorkingDir: root,
    outdir,
    outExtension: { '.js': format === 'cjs' ? '.cjs' : '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: 'external',
    legalComments: 'external', // licences that ask to be kept, in main.cjs.LEGAL.txt
    external: ['pg-native'],
    ...MODULES[format],
    logLevel: 'warning',
    metafile: true,
  };
}

/**
 * Leaves those libraries out of a program: V8 keeps the text of a program in memory, executed or not.
 * @returns a plugin, and the entry points of the libraries that the outputs import: name of the file -> path of the module.
 */
function apart() {
  const met = {};
  const plugin = {
    name: 'apart',
    setup(build) {
      const extension = build.initialOptions.outExtension?.['.js'] ?? '.js';
      build.onResolve(
        { filter: /^(@modelcontextprotocol|gpt-tokenizer|oidc-provider)/ },
        async ({ path, kind, pluginData, ...from }) => {
          const name = APART[path];
          if (kind !== 'dynamic-import' || name === undefined || pluginData === apart) return undefined;
          const { path: file, errors } = await build.resolve(path, { ...from, kind, pluginData: apart });
          if (errors.length > 0) return { errors };
          met[name] = file;
          return { path: `./${name}${extension}`, external: true };
        },
      );
    },
  };
  const entryPoints = (outputs) => {
    const imported = Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => parse(path).name));
    return Object.fromEntries(Object.entries(met).filter(([name]) => imported.includes(name)));
  };
  return { plugin, entryPoints };
}
