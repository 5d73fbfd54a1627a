import { parse } from 'node:path';

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
