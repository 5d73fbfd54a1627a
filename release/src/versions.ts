/**
 * Places where the repository states the version of the product: one list for the release command and for the check.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './commands.ts';

interface VersionPlace {
  /** Paths of the files, from the root of the repository. */
  readonly path: RegExp;
  /** Matches the version alone. */
  readonly version: RegExp;
}

const SEMVER = String.raw`\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?`;
const TEXT = /\.(md|json|ts|ya?ml)$/;

export const CHART = 'deploy/helm/pipeline';

const PLACES: readonly VersionPlace[] = [
  { path: /(^|\/)package\.json$/, version: /(?<=^ {2}"version": ")[^"]+/m },
  { path: new RegExp(`^${CHART}/Chart\\.yaml$`), version: /(?<=^(?:version|appVersion): "?)\d[^"\s]*/gm },
  { path: TEXT, version: new RegExp(String.raw`(?<=\bpipeline(?:-[a-z-]+)?-)${SEMVER}(?=\.tgz\b)`, 'g') },
  { path: TEXT, version: new RegExp(String.raw`(?<=\bpipeline-[a-z-]+:)${SEMVER}`, 'g') },
];

/** History keeps its versions; tests of the release command and of the chart have versions of their own. */
const UNVERSIONED =
  /^(CHANGELOG\.md|(.*\/)?pnpm-lock\.yaml|docs\/(decisions|reference)\/|release\/test\/|deploy\/helm\/test\/.*\.ts$)/;

/** A version that a file states. */
interface StatedVersion {
  readonly path: string;
  readonly version: string;
}

/** Returns the version of the root package. */
export const productVersion = (root: string): string => manifest(root).version;

/** Returns every place of the repository that states the version of the product, with what it states. */
export function statedVersions(root: string): StatedVersion[] {
  return texts(root).flatMap(([path, text]) =>
    placesOf(path).flatMap(({ version }) =>
      [...text.matchAll(new RegExp(version, `${version.flags.replace('g', '')}g`))].map(([found]) => ({
        path,
        version: found,
      })),
    ),
  );
}

/** Returns the new texts, by path, of the files that state another version. */
export function withVersion(root: string, next: string): Map<string, string> {
  const changed = new Map<string, string>();
  for (const [path, text] of texts(root)) {
    const replaced = placesOf(path).reduce((rest, { version }) => rest.replace(version, next), text);
    if (replaced !== text) changed.set(path, replaced);
  }
  return changed;
}

/**
 * Returns the address of the repository that package.json names, without a slash at the end.
 * @throws Error when it names none.
 */
export function repositoryUrl(root: string): string {
  const { url = '' } = manifest(root).repository ?? {};
  const [, address] = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?\/?$/.exec(url) ?? [];
  if (address === undefined)
    throw new Error('package.json: repository.url must be the https address of the repository');
  return address;
}

interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url?: string };
}

const manifest = (root: string): Manifest => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const placesOf = (path: string) => PLACES.filter((place) => place.path.test(path));

function texts(root: string): [path: string, text: string][] {
  const paths = git(root, 'ls-files').split('\n');
  return paths
    .filter((path) => placesOf(path).length > 0 && !UNVERSIONED.test(path))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]);
}
