/**
 * Who may import whom. The layers point down: services -> engine, http, vcs -> store, contract -> runtime, domain.
 * Tests, end-to-end runs and a package's own scripts may use every library as well; nobody imports a service but those
 * of the stack, which run them together.
 */

/** What the sources of each package may import of ours. A new package needs a line here. */
export const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  runtime: [],
  contract: ['domain'],
  store: ['domain', 'runtime'],
  http: ['contract', 'domain', 'runtime'],
  vcs: ['domain', 'runtime'],
  'sandbox-host': ['domain', 'runtime'],
  'local-postgres': ['runtime'],
  engine: ['domain', 'runtime', 'store'],
  cli: ['client', 'contract', 'domain', 'engine', 'runtime', 'store', 'vcs'],
  worker: ['contract', 'domain', 'runtime'],
  agent: ['contract', 'domain', 'runtime', 'worker'],
  client: ['runtime'],
  'contract-tests': ['contract', 'domain', 'runtime'],
  'hosted-api': ['contract', 'domain', 'engine', 'http', 'runtime', 'store', 'vcs'],
  monitor: ['contract', 'domain', 'engine', 'http', 'runtime', 'store', 'vcs'],
  web: ['contract', 'domain'],
  'monitor-web': ['contract', 'web'],
  'hosted-web': ['contract', 'web'],
  stack: ['contract', 'domain', 'engine', 'local-postgres', 'runtime', 'store', 'vcs', 'worker'],
  testing: ['domain', 'engine', 'local-postgres', 'runtime', 'sandbox-host', 'store', 'vcs'],
};

export const SERVICES: readonly string[] = ['hosted-api', 'monitor'];

/** Libraries that only some packages' sources may touch, so that each kind of knowledge has one home. */
export const CONFINED: readonly { library: RegExp; packages: readonly string[]; why: string }[] = [
  {
    library: /^express$/,
    packages: ['http', 'hosted-api', 'monitor', 'sandbox-host', 'bench'],
    why: 'HTTP belongs to libs/http',
  },
  { library: /^(kysely|pg)(\/|$)/, packages: ['store', 'stack', 'testing', 'bench'], why: 'SQL belongs to libs/store' },
  { library: /^@octokit\//, packages: ['vcs', 'bench'], why: 'GitHub belongs to libs/vcs' },
];

export interface SourceFile {
  /** Path inside the package, such as `src/index.ts`. */
  readonly path: string;
  /** Module specifiers as written. */
  readonly imports: readonly string[];
}

export interface WorkspacePackage {
  /** Without the scope: `domain`. */
  readonly name: string;
  /** Names, without the scope, of our packages in `dependencies`. */
  readonly dependencies: readonly string[];
  readonly files: readonly SourceFile[];
}

const SCOPE = '@pipeline/';

/** One line per breach; empty when every import keeps the rules. */
export function importBreaches(packages: readonly WorkspacePackage[]): string[] {
  return [...packages.flatMap(breachesOf), ...cycles(packages)];
}

function breachesOf(pkg: WorkspacePackage): string[] {
  const allowed = ALLOWED[pkg.name];
  if (!allowed) return [`${pkg.name} has no line in the table of allowed imports`];
  const declared = pkg.dependencies
    .filter((name) => !allowed.includes(name))
    .map((name) => `${pkg.name}/package.json: ${name} is not among the dependencies that ${pkg.name} may have`);
  const imported = pkg.files.flatMap((file) =>
    file.imports.flatMap((specifier) => {
      const reason = refusal(pkg, file.path, specifier);
      return reason ? [`${pkg.name}/${file.path} imports ${specifier}: ${reason}`] : [];
    }),
  );
  return [...declared, ...imported];
}

function refusal(pkg: WorkspacePackage, path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return leaves(path, specifier) ? 'a relative import ends at its package' : undefined;
  const inTest = isTestOrScript(path);
  if (specifier.startsWith(SCOPE)) return refusalOfOurs(pkg.name, packageOf(specifier), inTest);
  const confined = inTest ? undefined : CONFINED.find(({ library }) => library.test(specifier));
  return confined && !confined.packages.includes(pkg.name) ? confined.why : undefined;
}

function refusalOfOurs(importer: string, name: string, inTest: boolean): string | undefined {
  if (name === importer) return inTest ? undefined : 'a package does not import itself by name';
  if (SERVICES.includes(name)) return inTest && importer === 'stack' ? undefined : 'nobody imports a service';
  if (inTest || ALLOWED[importer]?.includes(name)) return undefined;
  return name === 'testing' ? 'testing is for tests' : `${importer} may not know ${name}`;
}

/** Whether the relative import climbs out of the package's folder. */
function leaves(path: string, specifier: string): boolean {
  let depth = path.split('/').length - 1;
  for (const part of specifier.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function isTestOrScript(path: string): boolean {
  return /^(test|scripts|e2e)\//.test(path) || path.endsWith('.test.ts');
}

function packageOf(specifier: string): string {
  return specifier.slice(SCOPE.length).split('/')[0] ?? '';
}

/** Cycles among the packages' sources; tests are left out, for testing stands above what it tests. */
function cycles(packages: readonly WorkspacePackage[]): string[] {
  const edges = new Map(packages.map((pkg) => [pkg.name, importedBySources(pkg)]));
  const found = new Set<string>();
  const walk = (name: string, way: readonly string[]): void => {
    const start = way.indexOf(name);
    if (start >= 0) {
      const cycle = way.slice(start);
      const first = cycle.indexOf([...cycle].sort()[0] ?? '');
      found.add([...cycle.slice(first), ...cycle.slice(0, first + 1)].join(' -> '));
      return;
    }
    for (const next of edges.get(name) ?? []) walk(next, [...way, name]);
  };
  for (const { name } of packages) walk(name, []);
  return [...found].map((cycle) => `cycle: ${cycle}`);
}

function importedBySources(pkg: WorkspacePackage): Set<string> {
  const sources = pkg.files.filter(({ path }) => !isTestOrScript(path)).flatMap(({ imports }) => imports);
  const ours = sources.filter((specifier) => specifier.startsWith(SCOPE)).map(packageOf);
  return new Set(ours.filter((name) => name !== pkg.name));
}
