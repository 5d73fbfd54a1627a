import { readFile } from 'node:fs/promises';
import { dirname, parse } from 'node:path';

/** Large libraries that are loaded when they are first needed, by their import; each becomes a file beside the program. */
const APART = {
  '@modelcontextprotocol/server': 'mcp',
  'gpt-tokenizer/encoding/o200k_base': 'tokenizer',
  'oidc-provider': 'oauth',
};

/**
 * Leaves those libraries out of a program: V8 keeps the text of a program in memory, executed or not.
 * @returns a plugin, and the entry points of the libraries that the outputs import: name of the file -> path of the module.
 */
export function apart() {
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

/** Escapes what esbuild leaves as it is in our sources: regular expressions and tagged templates. */
export const ascii = {
  name: 'ascii',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const text = await readFile(path, 'utf8');
      const escaped = text.replaceAll(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      return escaped === text ? undefined : { contents: escaped, loader: 'ts' };
    });
  },
};

/** Leaves out the messages of zod in other languages: its namespace names them all, and each is built at the start. */
export const oneLocale = {
  name: 'one-locale',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * Modules that libraries load at once and a service never uses, by the end of their path, and what stands in their place. A service reads bodies, queries and
 * files itself, its metrics are read and not pushed, it counts requests in memory, and its log has no colours.
 */
const UNUSED = {
  'body-parser/index.js': 'module.exports = {};',
  'serve-static/index.js': 'module.exports = {};',
  'send/index.js': 'module.exports = {};',
  'qs/lib/index.js': 'module.exports = {};',
  'prom-client/lib/pushgateway.js': 'module.exports = undefined;',
  // Express and its router call it: nothing is printed unless DEBUG is set.
  'debug/src/index.js': 'module.exports = () => Object.assign(() => undefined, { enabled: false });',
  // Of winston, which calls it as express calls debug.
  '@dabh/diagnostics/node/index.js': 'module.exports = () => () => undefined;',
  '@colors/colors/safe.js': 'module.exports = {};',
  'rate-limiter-flexible/index.js':
    "exports.RateLimiterMemory = require('./lib/RateLimiterMemory'); exports.RateLimiterRes = require('./lib/RateLimiterRes');",
};
const UNUSED_FILE = new RegExp(
  `[\\\\/]node_modules[\\\\/](${Object.keys(UNUSED)
    .map((path) => path.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]'))
    .join('|')})$`,
);

/** Leaves those modules out of a service, with all that they load in turn: a fifth of its program. */
export const unused = {
  name: 'unused',
  setup(build) {
    build.onLoad({ filter: UNUSED_FILE }, ({ path }) => {
      const name = UNUSED_FILE.exec(path)[1].replaceAll('\\', '/');
      return { contents: UNUSED[name], resolveDir: dirname(path) };
    });
  },
};

/** Leaves out the tracing library that the metrics library loads for exemplars, which no metric of ours has. */
export const noExemplars = {
  name: 'no-exemplars',
  setup(build) {
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
      /[\\/]prom-client[\\/]/.test(importer) ? { path: importer, namespace: 'left-out' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** Leaves out content types that no file name has, that belong to a vendor or are not registered: seven of eight of the table. */
export const fewTypes = {
  name: 'few-types',
  setup(build) {
    build.onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, async ({ path }) => {
      const types = Object.entries(JSON.parse(await readFile(path, 'utf8')));
      const kept = types.filter(([type, { extensions }]) => extensions && !/\/(?:vnd\.|x-|prs\.)/.test(type));
      return { contents: JSON.stringify(Object.fromEntries(kept)), loader: 'json' };
    });
  },
};

const BEYOND_ASCII = /[^\0-\x7f]/g;

/** V8 keeps a program with a single character beyond Latin-1 as two bytes a character: 5 MB more, and a slower start. */
export function requireAscii(file, bytes) {
  const at = bytes.findIndex((byte) => byte > 0x7f);
  if (at < 0) return;
  throw new Error(`${file} is not ASCII at ${at}: …${bytes.subarray(Math.max(0, at - 40), at + 20)}…`);
}
