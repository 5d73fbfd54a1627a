/** The command of docs/releasing.md, in a copy of this repository: npm run release -- minor */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { API_VERSION_FILE, OPENAPI_DOCUMENTS } from '../src/api-version.ts';
import { productVersion, statedVersions } from '../src/versions.ts';
import { commitAll, edit, runGit, scratchRepository } from './scratch-repository.ts';

const REPOSITORY = 'https://github.com/acme/pipeline';
const root = scratchRepository();
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const today = () => new Date().toISOString().slice(0, 10);

function release(...args: string[]) {
  const argv = ['--disable-warning=ExperimentalWarning', 'release/src/main.ts', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, GITHUB_REPOSITORY: 'acme/pipeline' },
  });
  return { status, stdout, stderr };
}

/** Runs the command, which must refuse and change nothing. */
function refused(...args: string[]): string {
  const before = [runGit(root, 'rev-parse', 'HEAD'), runGit(root, 'status', '--porcelain'), runGit(root, 'tag')];
  const { status, stderr } = release(...args);
  expect(status).toBe(1);
  expect([runGit(root, 'rev-parse', 'HEAD'), runGit(root, 'status', '--porcelain'), runGit(root, 'tag')]).toEqual(
    before,
  );
  return stderr;
}

test('refuses to release while package.json names no owner of the repository', () => {
  expect(refused('minor')).toContain('set repository.url');
  edit(root, 'package.json', 'OWNER/pipeline', 'acme/pipeline');
  commitAll(root);
});

test.each([
  ['0.1.0', 'is not newer than 0.1.0'],
  ['v0.2.0', '"v0.2.0" is neither a version'],
  ['next', '"next" is neither a version'],
])('refuses the version %s', (version, message) => {
  expect(refused(version)).toContain(message);
});

test('refuses to release a working tree with changes', () => {
  writeFileSync(join(root, 'new.txt'), '');
  expect(refused('minor')).toContain('new.txt');
  runGit(root, 'clean', '--force', '--quiet', 'new.txt');
});

test.each([
  ['commit', 'commit.gpgSign'],
  ['tag', 'tag.gpgSign'],
])('changes nothing when the %s fails', (command, setting) => {
  runGit(root, 'config', 'gpg.program', 'false');
  runGit(root, 'config', setting, 'true');
  expect(refused('minor')).toContain(`git ${command}`);
  runGit(root, 'config', '--unset', setting);
});

test('ends with status 2 for an unclear command line', () => {
  expect(release().status).toBe(2);
  expect(release('--dry-run', 'minor').status).toBe(2);
});

describe('the first release', () => {
  let before: string;
  beforeAll(() => {
    before = read('CHANGELOG.md');
    expect(release('minor')).toEqual({ status: 0, stdout: expect.stringContaining('tagged v0.2.0'), stderr: '' });
  });

  test('states one version everywhere', () => {
    const stated = statedVersions(root);
    expect(stated.length).toBeGreaterThan(25);
    expect([...new Set(stated.map(({ version }) => version))]).toEqual(['0.2.0']);
  });

  test('moves the unreleased changes to a section with links', () => {
    const after = read('CHANGELOG.md');
    expect(after).toContain(`## [Unreleased]\n\n## [0.2.0] - ${today()}\n\n### Added\n`);
    expect(after).toContain(`\n[Unreleased]: ${REPOSITORY}/compare/v0.2.0...HEAD\n`);
    expect(after).toContain(`\n[0.2.0]: ${REPOSITORY}/releases/tag/v0.2.0\n`);
    expect(after.split('\n').length - before.split('\n').length).toBe(5);
  });

  test('leaves a clean tree with one commit and an annotated tag, whose message are the notes', () => {
    expect(runGit(root, 'status', '--porcelain')).toBe('');
    expect(runGit(root, 'log', '-1', '--format=%s')).toBe('chore: release 0.2.0');
    expect(runGit(root, 'cat-file', '-t', 'v0.2.0')).toBe('tag');
    expect(runGit(root, 'for-each-ref', '--format=%(contents)', 'refs/tags/v0.2.0')).toMatch(/^### Added\n\n- /);
    expect(runGit(root, 'rev-parse', 'v0.2.0^{commit}')).toBe(runGit(root, 'rev-parse', 'HEAD'));
  });

  test('keeps the version of the API', () => {
    for (const path of OPENAPI_DOCUMENTS) expect(json(path).info.version).toBe('1.0.0');
  });
});

describe('the next release', () => {
  test('refuses a release without changes in the changelog', () => {
    expect(refused('patch')).toContain('no unreleased changes');
  });

  test('a release is refused while the API changed and its version did not', () => {
    edit(
      root,
      'CHANGELOG.md',
      '## [Unreleased]\n',
      '## [Unreleased]\n\n### Fixed\n\n- A fix, see\n  [docs](docs/install.md).\n',
    );
    edit(root, 'docs/reference/openapi-hosted.json', '"/health": {', '"/healthy": {');
    commitAll(root);
    const message = refused('patch');
    expect(message).toContain('changes of the API since 1.0.0 require a new major version');
    expect(message).toContain(API_VERSION_FILE);
    runGit(root, 'checkout', '--quiet', 'HEAD~1', '--', 'docs/reference');
    commitAll(root);
  });

  test('compares its section with the release before', () => {
    expect(release('patch').status).toBe(0);
    expect(productVersion(root)).toBe('0.2.1');
    expect(read('CHANGELOG.md')).toContain(
      `[Unreleased]: ${REPOSITORY}/compare/v0.2.1...HEAD\n[0.2.1]: ${REPOSITORY}/compare/v0.2.0...v0.2.1\n[0.2.0]: `,
    );
    expect(runGit(root, 'for-each-ref', '--format=%(contents)', 'refs/tags/v0.2.1')).toBe(
      `### Fixed\n\n- A fix, see [docs](${REPOSITORY}/blob/v0.2.1/docs/install.md).`,
    );
  });

  test('refuses to build for a tag of another version, or in another repository', () => {
    expect(refused('--dry-run', '--no-images', '--tag', 'v0.2.0')).toContain('the repository states 0.2.1');
    edit(root, 'package.json', 'acme/pipeline', 'acme/other');
    expect(refused('--dry-run', '--no-images', '--tag', 'v0.2.1')).toContain('acme/other');
    runGit(root, 'restore', '.');
  });
});
