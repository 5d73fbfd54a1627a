/**
 * The checks of the repository: one line per step with its time, Jest's own report, and the output of steps that failed.
 * Every step runs, also after a failure; the exit status is 1 if any failed.
 *
 *   verify.mjs                    everything that an ordinary change can break
 *   verify.mjs PATH…              Jest alone, on these paths
 *   verify.mjs --changed [REF]    types, format, lint and the tests of what differs from REF (default: the main branch)
 *   verify.mjs --nightly [ARG…]   the heavy proof: files `*.nightly.test.ts` and the model with many runs; arguments go to
 *                                 Jest, such as --shard 1/3
 *
 * The last line is plain: `N passed, N failed, N skipped`, counted from Jest's result.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changedFiles, testsOf } from './changed-tests.mjs';

const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const NIGHTLY = ['--config', 'jest.nightly.config.mjs'];

const types = { name: 'types and promises', argv: [bin('oxlint'), '--type-aware', '--type-check', '--deny-warnings'] };

/** They run beside Jest, which waits for Postgres and for processes much of its time. */
const checks = [
  { name: 'format and lint', argv: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  types,
  { name: 'unused code and dependencies', argv: [bin('knip'), '--no-progress', '--no-config-hints'] },
  { name: 'language of changed lines', argv: [process.execPath, 'scripts/checks/changed-language.mjs'] },
  {
    name: 'imports',
    argv: [bin('depcruise'), 'libs', 'services', '--config', '.dependency-cruiser.mjs', '--output-type', 'err'],
  },
  { name: 'generated files', argv: [process.execPath, 'scripts/generate.mjs', '--check'] },
  { name: 'OpenAPI documents', argv: ['npm', 'run', '--loglevel=error', 'lint:openapi'], cwd: 'libs/contract' },
];

const running = new Set();
for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]) {
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(code);
  });
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--nightly') {
  const env = { MODEL_RUNS: '2000', REPLICA_RUNS: '50', ...process.env };
  await finish([], [...NIGHTLY, ...rest], env);
} else if (first === '--changed') {
  await verifyChange(rest[0] ?? mainBranch());
} else if (first === undefined) {
  await finish(runSteps(checks), []);
} else {
  const paths = [first, ...rest];
  await finish([], paths.some((path) => path.includes('.nightly.')) ? [...NIGHTLY, ...paths] : paths);
}

/** Runs Jest beside the steps (`argv` null = no test is affected), prints what failed and the counts, and sets the exit status. */
async function finish(steps, argv, env = process.env) {
  const tests = argv === null ? { passed: 0, failed: 0, skipped: 0 } : runTests(argv, env);
  const [failures, counts] = await Promise.all([steps, tests]);
  for (const { name, output } of failures) console.log(`\nFAILED ${name}\n${output.trimEnd()}`);
  const failed = failures.map(({ name }) => name);
  if (counts.failed > 0) failed.push('tests');
  if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

async function verifyChange(ref) {
  const files = changedFiles(root, ref);
  const present = files.filter((file) => existsSync(join(root, file)));
  const biome = ['check', '--error-on-warnings', '--no-errors-on-unmatched', ...present];
  const steps = [types, { name: 'format and lint', argv: [bin('biome'), ...biome] }];
  const checked = runSteps(files.length === 0 ? [] : steps);
  const related = (code) =>
    execFileSync(process.execPath, [...jest, '--listTests', '--findRelatedTests', ...code], { cwd: root })
      .toString()
      .split('\n')
      .filter(Boolean);
  const { selected, dependent } = testsOf(root, files, related);
  console.log(
    `${files.length} files differ from ${ref}: ${selected.length} of the ${dependent} test files that depend on them run, ` +
      'those of their packages and capabilities. `npm test` runs all.',
  );
  return finish(checked, selected.length > 0 ? ['--runTestsByPath', ...selected] : null);
}

/** The main branch as the remote has it, or the local one. */
function mainBranch() {
  const known = (ref) => spawnSync('git', ['rev-parse', '--verify', '--quiet', ref], { cwd: root }).status === 0;
  return ['origin/main', 'main'].find(known) ?? 'HEAD';
}

/** Runs the steps one after the other. @returns those that failed, with their output. */
async function runSteps(steps) {
  const failures = [];
  for (const { name, argv, cwd = '.' } of steps) {
    const began = performance.now();
    const { status, output } = await capture(argv, join(root, cwd));
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}`);
    if (status !== 0) failures.push({ name, output });
  }
  return failures;
}

function start([command, ...args], options) {
  const child = spawn(command, args, options);
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

/** Exit status and everything the command printed, in order. */
function capture(argv, cwd) {
  return new Promise((resolve) => {
    const child = start(argv, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ status: 1, output: `${argv[0]}: ${error.message}` }));
    child.on('close', (code) => resolve({ status: code ?? 1, output }));
  });
}

/** Runs Jest with its report on this terminal; a suite that could not run at all counts as one failure. */
async function runTests(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const file = join(folder, 'jest.json');
  try {
    const argv = [...jest, '--json', `--outputFile=${file}`, ...args];
    const status = await new Promise((resolve, reject) => {
      // Jest reports on standard error, which joins the lines printed here; its own standard output is not needed.
      const child = start([process.execPath, ...argv], { cwd: root, env, stdio: ['inherit', 'ignore', 1] });
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
    return count(readFileSync(file, 'utf8'), status);
  } catch (error) {
    console.error(`Jest did not finish: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function count(json, status) {
  const result = JSON.parse(json);
  const failures = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return {
    passed: result.numPassedTests,
    failed: status === 0 ? failures : Math.max(failures, 1), // such as a global teardown that threw
    skipped: result.numPendingTests + result.numTodoTests,
  };
}
