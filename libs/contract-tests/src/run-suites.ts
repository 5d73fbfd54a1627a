import { checksOf } from './checks/all-checks.ts';
import type { Check } from './checks/check.ts';
import { hostedSamples, monitorSamples } from './checks/learn-samples.ts';
import { Probe } from './checks/probe.ts';
import { type CheckResult, runChecks } from './checks/run-checks.ts';
import type { Suite } from './options.ts';
import { PropertySuite } from './property/property-suite.ts';
import type { Report } from './report/report.ts';
import type { TestedSurface } from './target/target.ts';

/** Suites and checks to run, and how; as the options of the command line. */
export interface Selection {
  suite: readonly Suite[];
  only: readonly string[];
  skip: readonly (readonly [endpoint: string, reason: string])[];
  write: string | boolean;
  seed: number;
  runs: number;
  concurrency: number;
  guesses: number;
}

const SAMPLES = { hosted: hostedSamples, monitor: monitorSamples };

/** Runs the chosen suites against all surfaces. @param log gets a line of progress. */
export async function runSuites(
  surfaces: readonly TestedSurface[],
  selection: Selection,
  log: (line: string) => void = () => undefined,
): Promise<Report> {
  const checks = (await Promise.all(surfaces.map((tested) => checkSurface(tested, selection, log)))).flat();
  const property = selection.suite.includes('property') ? await runProperty(surfaces, selection, log) : null;
  return { targets: surfaces.map(({ target }) => target), checks, property };
}

async function checkSurface(
  tested: TestedSurface,
  { suite, only, skip, write }: Selection,
  log: (line: string) => void,
): Promise<CheckResult[]> {
  const { surface } = tested.target;
  const chosen = checksOf(surface).filter(
    (check) => suite.includes(check.suite) && (only.length === 0 || only.includes(check.endpoint)),
  );
  if (chosen.length === 0) return [];
  const reasons = new Map(skip);
  const isLeftOut = ({ endpoint }: Check) => reasons.has(endpoint);
  const learned = await SAMPLES[surface.name](new Probe(tested));
  const samples = { ...learned, ...(typeof write === 'string' && { scratch: write }) };
  const results = await runChecks(
    tested,
    chosen.filter((check) => !isLeftOut(check)),
    samples,
    ({ outcome, endpoint, name, text }) => {
      if (outcome === 'failed') log(`FAILED ${surface.name} ${endpoint}: ${name}: ${text}`);
    },
  );
  log(`${surface.name}: ${results.length} checks`);
  const leftOut = chosen.filter(isLeftOut).map(
    ({ run: _run, ...check }): CheckResult => ({
      ...check,
      surface: surface.name,
      outcome: 'skipped',
      text: reasons.get(check.endpoint) ?? null,
      curl: null,
      ms: 0,
    }),
  );
  return [...results, ...leftOut];
}

/** A scratch repo is no bound for generated requests: with one they only read. */
function runProperty(surfaces: readonly TestedSurface[], selection: Selection, log: (line: string) => void) {
  log(`seed ${selection.seed}`);
  const options = { ...selection, write: selection.write === true, skip: new Map(selection.skip) };
  return new PropertySuite(surfaces, options, ({ requests }, found) =>
    log(`${requests} requests, ${found} findings`),
  ).run();
}
