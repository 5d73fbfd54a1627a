/**
 * Rules for the dependencies among the folders inside a package. A folder directly below `src` is a capability; files
 * that lie in `src` itself are the capability `.`. The arrows between capabilities are listed, hold no cycle, and type
 * imports count. `src/index.ts` is the package's entry and stands above all of them; tests are left out.
 */
import { posix } from 'node:path';
import type { SourceFile, WorkspacePackage } from './import-rules.ts';

/** The capabilities of a package, each with those that it imports. */
export type Arrows = Readonly<Record<string, readonly string[]>>;

const ENTRY = 'src/index.ts';

/** One line per arrow that is not listed, is listed without need, or closes a cycle. `arrows` are listed by package. */
export function arrowBreaches(pkg: WorkspacePackage, arrows: Arrows): string[] {
  const found = arrowsOf(pkg);
  const missing = [...found].flatMap(([from, targets]) =>
    [...targets].flatMap(([to, example]) =>
      arrows[from]?.includes(to) ? [] : [`${pkg.name}: ${from} may not import ${to} (${example})`],
    ),
  );
  const needless = Object.entries(arrows).flatMap(([from, targets]) =>
    targets.flatMap((to) =>
      found.get(from)?.has(to) ? [] : [`${pkg.name}: the arrow ${from} -> ${to} is listed and has no import`],
    ),
  );
  const closed = cyclesIn(new Map(Object.entries(arrows))).map((cycle) => `${pkg.name}: cycle ${cycle.join(' -> ')}`);
  return [...missing, ...needless, ...closed];
}

/** The capabilities that each capability of the package imports, each with one import as an example. */
export function arrowsOf(pkg: WorkspacePackage): Map<string, Map<string, string>> {
  const arrows = new Map<string, Map<string, string>>();
  for (const [path, targets] of importGraph(pkg)) {
    if (path === ENTRY) continue;
    for (const target of targets) {
      const [from, to] = [capabilityOf(path), capabilityOf(target)];
      if (from === to) continue;
      const known = arrows.get(from) ?? new Map<string, string>();
      arrows.set(from, known.set(to, known.get(to) ?? `${path} imports ${target}`));
    }
  }
  return arrows;
}

/** One line per cycle of imports between files of the package. */
export function fileCycles(pkg: WorkspacePackage): string[] {
  return cyclesIn(importGraph(pkg)).map((cycle) => `${pkg.name}: cycle ${cycle.join(' -> ')}`);
}

/** One line per file that begins a chain of more than `limit` files, both ends counted. An index, which only lists, begins none. */
export function deepChains(pkg: WorkspacePackage, limit: number): string[] {
  const graph = importGraph(pkg);
  const longest = new Map<string, readonly string[]>();
  const chainFrom = (path: string): readonly string[] => {
    const known = longest.get(path);
    if (known) return known;
    longest.set(path, [path]); // a cycle ends here; `fileCycles` reports it
    const next = [...(graph.get(path) ?? [])].map(chainFrom).sort((a, b) => b.length - a.length)[0] ?? [];
    const chain = [path, ...next];
    longest.set(path, chain);
    return chain;
  };
  const chains = [...graph.keys()].filter((path) => posix.basename(path) !== 'index.ts').map(chainFrom);
  return chains
    .filter((chain) => chain.length > limit)
    .map((chain) => `${pkg.name}: ${chain.length} files ${chain.join(' > ')}`);
}

/** One line per folder that holds more than `limit` of `files` directly. */
export function crowdedFolders(files: readonly string[], limit: number): string[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > limit).map(([folder, count]) => `${folder}: ${count} files`);
}

/** The source files of the package that each of its source files imports. */
function importGraph(pkg: WorkspacePackage): Map<string, string[]> {
  const sources = pkg.files.filter(({ path }) => path.startsWith('src/') && !/\.test\.tsx?$/.test(path));
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(sources.map((file) => [file.path, relativeImports(file).filter((path) => paths.has(path))]));
}

function relativeImports({ path, imports }: SourceFile): string[] {
  const relative = imports.filter((specifier) => specifier.startsWith('.'));
  return [...new Set(relative.map((specifier) => posix.join(posix.dirname(path), specifier)))];
}

function capabilityOf(path: string): string {
  const [, folder, ...rest] = path.split('/');
  return rest.length > 0 && folder !== undefined ? folder : '.';
}

/** Each cycle once, from its first name in the alphabet; the last name repeats the first. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles = new Map<string, string[]>();
  const done = new Set<string>();
  const walk = (name: string, chain: readonly string[]): void => {
    const start = chain.indexOf(name);
    if (start >= 0) {
      const cycle = chain.slice(start);
      const first = cycle.indexOf([...cycle].sort()[0] ?? '');
      const ordered = [...cycle.slice(first), ...cycle.slice(0, first)];
      cycles.set(ordered.join(), [...ordered, ordered[0] ?? '']);
    }
    if (start >= 0 || done.has(name)) return;
    for (const next of graph.get(name) ?? []) walk(next, [...chain, name]);
    done.add(name);
  };
  for (const name of graph.keys()) walk(name, []);
  return [...cycles.values()];
}
