/**
 * The whole check: one line per step with its time, the output of those that fail, and Jest's own report at the end.
 * Every step runs, also after a failure; the exit status is 1 if any failed. With paths, Jest alone runs them.
 *
 * The last line is plain: `N passed, N failed, N skipped`, counted from Jest's result.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const jest = ['--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** Two lanes for two cores; Jest comes after them and has both. */
const lanes = [
  [
    { name: 'types', argv: [bin('tsc'), '--noEmit'] },
    { name: 'types of the dashboard', argv: [bin('tsc'), '--noEmit', '-p', 'services/monitor/web'] },
    { name: 'types of the customers’ pages', argv: [bin('tsc'), '--noEmit', '-p', 'services/hosted-api/web'] },
    { name: 'promises', argv: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
  ],
  [
    { name: 'format and lint', argv: [bin('biome'), 'check', '--error-on-warnings', '.'] },
    { name: 'unused code and dependencies', argv: [bin('knip'), '--no-progress', '--no-config-hints'] },
    {
      name: 'imports',
      argv: [bin('depcruise'), 'libs', 'services', '--config', '.dependency-cruiser.mjs', '--output-type', 'err'],
    },
    { name: 'generated files', argv: [process.execPath, 'scripts/generate.mjs', '--check'] },
    { name: 'OpenAPI documents', argv: ['npm', 'run', '--loglevel=error', 'lint:openapi'], cwd: 'libs/contract' },
  ],
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

const paths = process.argv.slice(2);
const failed = paths.length > 0 ? [] : (await Promise.all(lanes.map(runLane))).flat();
const counts = await runTests(paths);
if (counts.failed > 0) failed.push('tests');
if (failed.length > 0) console.log(`\nFailed: ${failed.join(', ')}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** Runs the steps one after the other; returns the names of those that failed. */
async function runLane(steps) {
  const failures = [];
  for (const { name, argv, cwd = '.' } of steps) {
    const began = performance.now();
    const { status, output } = await capture(argv, join(root, cwd));
    const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}`);
    if (status === 0) continue;
    console.log(`${output.trimEnd()}\n`);
    failures.push(name);
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
async function runTests(testPaths) {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const file = join(folder, 'jest.json');
  try {
    const argv = [...jest, '--json', `--outputFile=${file}`, ...testPaths];
    const status = await new Promise((resolve, reject) => {
      // Jest reports on standard error, which joins the lines printed here; its own standard output is not needed.
      const child = start([process.execPath, ...argv], { cwd: root, stdio: ['inherit', 'ignore', 1] });
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
