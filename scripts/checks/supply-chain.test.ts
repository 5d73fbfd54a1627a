/** Versions of what is taken from others: each is known and fixed. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { judgeAudit } from './judge-audit.ts';
import { ROOT, repositoryFiles } from './workspace.ts';

const workflows = repositoryFiles().filter((path) => /^\.github\/workflows\/.*\.ya?ml$/.test(path));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Actions that a tag names, which its owner can move; those of this repository are at its own commit. */
const unpinned = (text: string): string[] =>
  [...text.matchAll(/^\s*(?:- )?uses:\s*(\S.*)$/gm)]
    .map(([, action = '']) => action.trim())
    .filter((action) => !action.startsWith('./') && !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$/.test(action));

describe('actions', () => {
  test('actions are pinned by commit, with the version beside it, in every workflow', () => {
    expect(workflows.length).toBeGreaterThan(1);
    expect(workflows.flatMap((path) => unpinned(read(path)))).toEqual([]);
  });

  test.each(['a/b@v4', 'a/b@main', 'a/b@0123456', `a/b@${'a'.repeat(40)}`])('"%s" would be refused', (action) => {
    expect(unpinned(`      - uses: ${action}\n`)).toEqual([action]);
  });

  test('one that is pinned, or of this repository, would not', () => {
    expect(unpinned(`  - uses: a/b/c@${'a'.repeat(40)} # v1.2.3\n  - uses: ./.github/actions/x\n`)).toEqual([]);
  });

  test('the actions of a workflow may only read the repository unless it asks for more', () => {
    for (const path of workflows) expect(read(path)).toMatch(/^permissions:\n {2}contents: read$/m);
  });
});

describe('images', () => {
  const dependabot = read('.github/dependabot.yml');
  const folders = (pattern: RegExp) =>
    new Set(
      repositoryFiles()
        .filter((path) => pattern.test(path))
        .map((path) => `/${dirname(path)}`.replace(/\.$/, '')),
    );
  const listed = (ecosystem: string) =>
    new RegExp(`package-ecosystem: ${ecosystem}\\n\\s+directories: \\[(.*)\\]`).exec(dependabot)?.[1]?.split(', ');

  test('images are updated in every folder with a Dockerfile or a compose file', () => {
    expect(listed('docker')?.sort()).toEqual([...folders(/(^|\/)([\w-]+\.)?Dockerfile$/)].sort());
    expect(listed('docker-compose')?.sort()).toEqual(
      [...folders(/(^docker-compose\.yml|^deploy\/compose\/.*\.yaml)$/)].sort(),
    );
  });
});

describe('packages', () => {
  const manifests = repositoryFiles().filter((path) => path.endsWith('package.json'));

  test('packages are pinned to an exact version in every manifest', () => {
    const loose = manifests.flatMap((path) => {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(read(path)) as Record<
        string,
        Record<string, string>
      >;
      const versions = Object.entries({ ...dependencies, ...devDependencies });
      return versions.flatMap(([name, version]) =>
        /^(\d+\.\d+\.\d+(-[\w.]+)?|workspace:\*|catalog:|link:\.\.\/.+)$/.test(version)
          ? []
          : [`${path}: ${name} ${version}`],
      );
    });
    expect(loose).toEqual([]);
  });

  test('packages of images come from a lockfile without install scripts, besides the pinned package manager', () => {
    const dockerfiles = repositoryFiles().filter((path) => /(^|\/)([\w-]+\.)?Dockerfile$/.test(path));
    const commandsOf = (path: string) => read(path).replace(/^#.*$/gm, '').replaceAll('\\\n', ' ');
    const installs = dockerfiles.flatMap((path) => commandsOf(path).match(/\bp?npm (install|ci)\b[^&;\n]*/g) ?? []);
    expect(installs.length).toBeGreaterThan(4);
    const isLocked = (command: string) =>
      /packageManager/.test(command) || (/^npm ci|--frozen-lockfile/.test(command) && /--ignore-scripts/.test(command));
    expect(installs.filter((command) => !isLocked(command))).toEqual([]);
  });

  test.each([
    [0, 'No known vulnerabilities found', false, 'no known vulnerability'],
    [1, 'Error: ERR_PNPM_AUDIT_BAD_RESPONSE … responded with 405', false, 'SKIPPED'],
    [1, 'request to https://x failed, reason: getaddrinfo ENOTFOUND x', false, 'SKIPPED'],
    [1, '┌ high │ Prototype pollution in x', true, 'known vulnerabilities'],
    [null, 'spawnSync npx ETIMEDOUT', false, 'SKIPPED'],
    [1, 'something new', true, 'see above'],
  ])('an audit that ends with %s and prints "%s" fails: %s', (status, output, failed, message) => {
    expect(judgeAudit(status, output)).toEqual({ failed, message: expect.stringContaining(message) });
  });
});
