/** Makes a release in the repository: every version, the changelog, one commit and one tag. Pushes nothing. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gt, inc, type ReleaseType, valid } from 'semver';
import { API_VERSION_FILE, OPENAPI_DOCUMENTS, requireApiVersion } from './api-version.ts';
import { releaseNotes, withRelease } from './changelog.ts';
import { git, succeeds } from './commands.ts';
import { productVersion, repositoryUrl, withVersion } from './versions.ts';

/** Value in `repository.url` of package.json until a maintainer sets it. */
const PLACEHOLDER = '//github.com/OWNER/';

/**
 * Commits and tags a release.
 * @param wanted a version, or the part to raise: patch, minor, major.
 * @returns the version, and the tag that was created.
 * @throws Error when the state of the repository does not allow it; nothing is changed then.
 */
export function cutRelease(root: string, wanted: string, now: Date): { version: string; tag: string } {
  const version = nextVersion(productVersion(root), wanted);
  const tag = `v${version}`;
  const repository = repositoryUrl(root);
  requireReleasable(root, tag, repository);
  const previous = lastTag(root);
  const changelog = withRelease(read(root, 'CHANGELOG.md'), {
    version,
    date: now.toISOString().slice(0, 10),
    repository,
    previous: previous?.slice(1),
  });
  const texts = withVersion(root, version).set('CHANGELOG.md', changelog);
  if (previous !== undefined) requireApiVersionSince(root, previous);
  const head = git(root, 'rev-parse', 'HEAD');
  try {
    for (const [path, text] of texts) writeFileSync(join(root, path), text);
    git(root, 'commit', '--quiet', '--all', '--message', `chore: release ${version}`);
    git(
      root,
      'tag',
      '--annotate',
      tag,
      '--cleanup=verbatim',
      '--message',
      releaseNotes(changelog, version, repository),
    );
  } catch (error) {
    git(root, 'reset', '--quiet', '--hard', head); // the tree had no changes
    throw error;
  }
  return { version, tag };
}

function nextVersion(current: string, wanted: string): string {
  const isPart = ['patch', 'minor', 'major'].includes(wanted);
  const next = isPart ? inc(current, wanted as ReleaseType) : valid(wanted);
  if (next === null || (!isPart && next !== wanted)) {
    throw new Error(`"${wanted}" is neither a version, such as 0.2.0, nor patch, minor or major`);
  }
  if (!gt(next, current)) throw new Error(`${next} is not newer than ${current}`);
  return next;
}

function requireReleasable(root: string, tag: string, repository: string): void {
  const changes = git(root, 'status', '--porcelain');
  if (changes !== '') throw new Error(`the working tree has changes:\n${changes}`);
  if (succeeds(root, 'git', ['rev-parse', '--quiet', '--verify', `refs/tags/${tag}`])) throw new Error(`${tag} exists`);
  if (repository.includes(PLACEHOLDER))
    throw new Error(`package.json: set repository.url to the address of the repository, in place of ${repository}`);
}

/** Returns the newest release tag before this commit, if there is one. */
function lastTag(root: string): string | undefined {
  const args = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*'];
  return succeeds(root, 'git', args) ? git(root, ...args) : undefined;
}

function requireApiVersionSince(root: string, tag: string): void {
  const documents = OPENAPI_DOCUMENTS.map((path) => ({
    released: git(root, 'show', `${tag}:${path}`),
    current: read(root, path),
  }));
  requireApiVersion(read(root, API_VERSION_FILE), documents);
}

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');
