/**
 * Entry of the npm scripts on a machine that has only Node >= 18 and npm: fetches the pinned pnpm, installs from the
 * frozen lockfile and runs the program under the pinned Node. It has no dependency and no syntax newer than Node 18,
 * because it runs before the installation.
 *
 *   node scripts/bootstrap.mjs start [options]    the whole product on this machine
 *   node scripts/bootstrap.mjs verify [paths]     every check, or Jest alone on the given paths
 *   node scripts/bootstrap.mjs install            the installation alone
 *   node scripts/bootstrap.mjs bench|release|api-changes|site|e2e:chart|e2e:contract [options]
 *                                                 a tool whose folder has a lockfile of its own
 *   node scripts/bootstrap.mjs check FOLDER       types and tests of such a folder
 *
 * Standard output belongs to the program that is started. The installation reports its progress on standard error.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const node = join(modules, 'node', 'bin', 'node');
const quiet = '--disable-warning=ExperimentalWarning';

const [command = '', ...args] = process.argv.slice(2);
/** `folder`: installed after the product. `extent`: `run` leaves out what only development needs, null the whole product. */
const programs = {
  start: { argv: [quiet, 'libs/stack/src/main.ts'], extent: 'run' },
  verify: { argv: ['scripts/verify.mjs'] },
  install: {},
  bench: { argv: [quiet, 'bench/src/main.ts'], folder: 'bench' },
  release: { argv: [quiet, 'release/src/main.ts'], folder: 'release' },
  'api-changes': { argv: [quiet, 'release/src/api-changes-main.ts'], folder: 'release', extent: 'run' },
  site: { argv: ['site/build.mjs'], folder: 'site', extent: null },
  'e2e:chart': { argv: [quiet, 'deploy/helm/test/e2e.ts'], folder: 'deploy/helm/test' },
  'e2e:contract': { argv: [quiet, 'deploy/contract-tests/test/e2e.ts'], folder: 'deploy/contract-tests/test' },
  check: { argv: ['scripts/check-folder.mjs'], folder: args[0] },
};
if (!Object.hasOwn(programs, command)) {
  fail(`unknown command "${command}": use ${Object.keys(programs).join(', ')}`, 2);
}
const { argv, folder, extent = 'all' } = programs[command];
if (command === 'check' && (folder === undefined || !existsSync(join(root, folder, 'pnpm-lock.yaml')))) {
  fail('check: name a folder that has a pnpm-lock.yaml, such as bench', 2);
}

// `npm start` keeps the tools of an installation that has them.
if (extent !== null) install('.', existsSync(join(modules, 'jest')) ? 'all' : extent);
if (folder !== undefined) install(folder, 'all');
if (argv !== undefined) run([...argv, ...args]);

/** Installs a folder unless its node_modules was made from exactly these manifests on this kind of machine. */
function install(path, wantedExtent) {
  const home = join(root, path);
  const stampFile = join(home, 'node_modules', '.installed-from');
  const wanted = fingerprint(home);
  const isThere = existsSync(stampFile) && (path !== '.' || existsSync(node));
  const stamp = isThere ? readFileSync(stampFile, 'utf8') : '';
  if (stamp === `all ${wanted}` || stamp === `${wantedExtent} ${wanted}`) return;
  const { packageManager, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const what = path === '.' ? 'the product' : path;
  process.stderr.write(`Installing ${what} with ${packageManager} …\n`);
  const began = Date.now();
  rmSync(stampFile, { force: true }); // an interrupted installation must not pass for a complete one
  // Packages are checked against the Node that will run them, not the one of this process.
  const checked = `--config.node-version=${dependencies.node}`;
  const options = [
    '--frozen-lockfile',
    '--reporter=append-only',
    checked,
    ...(wantedExtent === 'run' ? ['--prod'] : []),
  ];
  const result = spawnSync('npx', ['--yes', packageManager, 'install', ...options], {
    cwd: home,
    stdio: ['ignore', 2, 2],
    // CI=true: pnpm does not prompt. The log level overrides .npmrc, which would hide the reason of a failed download.
    env: { ...process.env, CI: 'true', npm_config_loglevel: 'warn' },
  });
  if (result.status !== 0) {
    const why = result.error?.message ?? `exit status ${result.status ?? result.signal}`;
    fail(`the installation of ${what} failed (${why}); its output is above`, 1);
  }
  removeNodeParts();
  writeFileSync(stampFile, `${wantedExtent} ${wanted}`);
  process.stderr.write(`Installed ${what} in ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
}

/** Removes what the package of Node leaves beside its program: headers and manuals of 70 MB, and npm. */
function removeNodeParts() {
  if (existsSync(node) && lstatSync(node).isFile())
    rmSync(join(modules, 'node', 'node_modules'), { recursive: true, force: true });
}

/** Hash of the lockfile, the workspace settings, every manifest and the kind of machine. */
function fingerprint(home) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests(home, home, 0)]) {
    hash.update(`\n${file}\n`).update(readFileSync(join(home, file)));
  }
  return hash.digest('hex');
}

/** Paths of the manifests that one lockfile covers; packages lie at most three folders deep. */
function manifests(home, path, depth) {
  const found = [];
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.name === 'package.json') found.push(inner.slice(home.length + 1));
    const isSkipped = entry.name === 'node_modules' || entry.name.startsWith('.');
    if (!entry.isDirectory() || isSkipped || depth >= 3) continue;
    if (!existsSync(join(inner, 'pnpm-lock.yaml'))) found.push(...manifests(home, inner, depth + 1));
  }
  return found.sort();
}

/** Runs the program under the pinned Node, where it is installed, in place of this process: same streams, same signals, same exit code. */
function run(argv) {
  const PATH = join(modules, '.bin') + delimiter + (process.env.PATH ?? '');
  const child = spawn(existsSync(node) ? node : process.execPath, argv, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH },
  });
  child.on('error', (error) => fail(`${node} does not start: ${error.message}`, 1));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
    process.on(signal, () => {
      // The terminal sends Ctrl-C to the whole foreground group, so the child has it already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  stopWhenOrphaned(child);
}

/** Under npm: an npm that was killed outright cannot pass its end on, so the program is stopped here. */
function stopWhenOrphaned(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 1000).unref();
}

function fail(message, code) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
