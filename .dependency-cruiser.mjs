/**
 * The rules of imports, which `npm test` checks; type imports count. Arrows point down: services -> engine, http, vcs ->
 * store, contract -> runtime, domain. Tests and a package's scripts may import every library; those of the stack alone
 * import services. docs/architecture.md shows the result.
 */

/** Libraries that the sources of each package may import. A new package needs a line here. */
const ALLOWED = {
  'libs/domain': [],
  'libs/runtime': [],
  'libs/contract': ['domain'],
  'libs/store': ['domain', 'runtime'],
  'libs/http': ['contract', 'domain', 'runtime'],
  'libs/vcs': ['domain', 'runtime'],
  'libs/sandbox-host': ['domain', 'runtime'],
  'libs/local-postgres': ['runtime'],
  'libs/engine': ['domain', 'runtime', 'store'],
  'libs/cli': ['client', 'contract', 'domain', 'engine', 'runtime', 'store', 'vcs'],
  'libs/worker': ['contract', 'domain', 'runtime'],
  'libs/agent': ['contract', 'domain', 'runtime', 'worker'],
  'libs/client': ['runtime'],
  'libs/contract-tests': ['contract', 'domain', 'runtime'],
  'libs/web': ['contract', 'domain'],
  'libs/stack': ['contract', 'domain', 'engine', 'local-postgres', 'runtime', 'store', 'vcs', 'worker'],
  'libs/testing': ['domain', 'engine', 'local-postgres', 'runtime', 'sandbox-host', 'store', 'vcs'],
  'services/hosted-api': ['contract', 'domain', 'engine', 'http', 'runtime', 'store', 'vcs'],
  'services/hosted-api/web': ['contract', 'web'],
  'services/monitor': ['contract', 'domain', 'engine', 'http', 'runtime', 'store', 'vcs'],
  'services/monitor/web': ['contract', 'web'],
};

/** Packages of others that only some of ours import, so that each kind of knowledge has one home. */
const CONFINED = [
  { name: 'sql-in-store', library: 'kysely|pg', owners: 'libs/(store|stack|testing)' },
  { name: 'http-in-http', library: 'express', owners: 'libs/(http|sandbox-host)|services' },
  { name: 'github-in-vcs', library: '@octokit/[^/]+', owners: 'libs/vcs' },
];

const TEST = '^(libs|services)/.*((^|/)(test|scripts|e2e)/|\\.test\\.tsx?$)';
const PACKAGE = '^(services/[^/]+/web|(?:libs|services)/[^/]+)/';
const source = (path) => ({ path: `^${path}/`, pathNot: [TEST, ...(path.endsWith('web') ? [] : [`^${path}/web/`])] });
const error = (rule) => ({ severity: 'error', ...rule });

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    error({ name: 'no-cycle', from: {}, to: { circular: true } }),
    error({
      name: 'no-cycle-of-capabilities',
      scope: 'folder',
      from: { path: '^(libs|services)/[^/]+/src/[^/]+$' },
      to: { circular: true },
    }),
    error({ name: 'resolvable', from: {}, to: { couldNotResolve: true } }),
    error({ name: 'listed-package', from: { pathNot: Object.keys(ALLOWED).map((path) => `^${path}/`) }, to: {} }),
    ...Object.entries(ALLOWED).map(([path, libraries]) =>
      error({
        name: `${path.replaceAll('/', '-')}-imports`,
        from: source(path),
        to: { path: '^(libs|services)/', pathNot: [`^${path}/`, ...libraries.map((name) => `^libs/${name}/`)] },
      }),
    ),
    error({
      name: 'no-service',
      from: { path: PACKAGE, pathNot: '^libs/stack/' },
      to: { path: '^services/', pathNot: '^$1/' },
    }),
    error({
      name: 'no-relative-way-out',
      from: { path: PACKAGE },
      to: { path: PACKAGE, pathNot: '^$1/', dependencyTypes: ['local'] },
    }),
    ...CONFINED.map(({ name, library, owners }) =>
      error({
        name,
        from: { path: '^(libs|services)/', pathNot: [TEST, `^(${owners})/`] },
        to: { path: `node_modules/(${library})/` },
      }),
    ),
  ],
  options: {
    parser: 'swc', // it reads the syntax of TypeScript without the compiler
    tsPreCompilationDeps: true, // type imports count
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(libs|services)/.*/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};
