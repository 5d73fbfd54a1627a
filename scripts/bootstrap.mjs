/**
 * Entry of `npm start` and `npm test` on a machine that has only Node >= 18 and npm: brings the pinned pnpm, installs
 * from the frozen lockfile and goes on under the pinned Node. No dependency and no syntax newer than Node 18, because
 * it runs before the install.
 *
 *   node scripts/bootstrap.mjs start [options]    the whole product on this machine
 *   node scripts/bootstrap.mjs verify [paths]     every check, or Jest alone on the given paths
 *   node scripts/bootstrap.mjs install            the set-up alone
 *
 * Standard output belongs to the program that is started: what the set-up has to say goes to standard error.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.installed-from');
const node = join(modules, 'node', 'bin', 'node');

const programs = {
  start: ['--disable-warning=ExperimentalWarning', join('libs', 'stack', 'src', 'main.ts')],
  verify: [join('scripts', 'verify.mjs')],
};

const [command = '', ...args] = process.argv.slice(2);
if (command !== 'install' && !Object.hasOwn(programs, command)) {
  fail(`unknown command "${command}": use start, verify or install`, 2);
}
// A start keeps the tools of an installation that has them.
install(command === 'start' && !existsSync(join(modules, 'jest')) ? 'run' : 'all');
if (command !== 'install') run([...programs[command], ...args]);

/**
 * Installs unless node_modules was made from exactly these manifests on this kind of machine. To run the product takes
 * a third of what its development takes; an installation with all of it needs nothing more.
 */
function install(extent) {
  const wanted = fingerprint();
  const stamp = existsSync(node) && existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  if (stamp === `all ${wanted}` || stamp === `${extent} ${wanted}`) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  process.stderr.write(`Installing with ${packageManager} …\n`);
  const began = Date.now();
  rmSync(stampFile, { force: true }); // an interrupted installation must not pass for a whole one
  const argv = ['--yes', packageManager, 'install', '--frozen-lockfile', ...(extent === 'run' ? ['--prod'] : [])];
  const result = spawnSync('npx', argv, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    // CI=true: pnpm never asks. The log level undoes .npmrc, or a failed download would say nothing.
    env: { ...process.env, CI: 'true', npm_config_loglevel: 'warn' },
  });
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
    const why = result.error?.message ?? `exit status ${result.status ?? result.signal}`;
    fail(`the installation failed (${why}); what it printed stands above`, 1);
  }
  writeFileSync(stampFile, `${extent} ${wanted}`);
  process.stderr.write(`Installed in ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
}

/** Hash of the lockfile, the workspace settings, every manifest and the kind of machine. */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests(root, 0)]) {
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Paths of all package.json files; packages lie at most three folders deep. */
function manifests(folder, depth) {
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'package.json') found.push(join(folder, entry.name).slice(root.length + 1));
    const skipped = entry.name === 'node_modules' || entry.name.startsWith('.');
    if (entry.isDirectory() && !skipped && depth < 3) found.push(...manifests(join(folder, entry.name), depth + 1));
  }
  return found.sort();
}

/** Runs the program under the pinned Node in place of this process: same streams, same signals, same exit code. */
function run(argv) {
  const PATH = join(modules, '.bin') + delimiter + (process.env.PATH ?? '');
  const child = spawn(node, argv, { cwd: root, stdio: 'inherit', env: { ...process.env, PATH } });
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
