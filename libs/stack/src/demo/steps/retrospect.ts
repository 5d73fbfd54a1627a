import { outcome, type Step, type StepContext } from './context.ts';

/** Compares what was planned with what reached the default branch. */
export const retrospect: Step = async (context) => {
  const { task, issue } = context;
  const planned = task.payload.plan?.plannedFiles ?? null;
  const actual = await filesOnDefaultBranch(context);
  const failures = task.payload.previousAttempts.filter((attempt) => attempt.errorMessage !== null);
  const missing = planned && actual ? planned.filter((path) => !actual.includes(path)) : [];
  const verdict = actual === null ? 'abandoned' : missing.length > 0 ? 'partial' : 'success';
  return outcome('retrospective', {
    outcomeClassification: verdict,
    summary: `#${issue.number}: ${planned?.length ?? 0} files planned, ${actual?.length ?? 0} changed, ${failures.length} failed attempts (simulation).`,
    plannedFiles: planned && { files: planned },
    actualFiles: actual && { files: actual },
    failures: failures.length > 0 ? { attempts: failures } : null,
    lessons: failures.length > 0 ? { retry: 'Failed attempts were mended by trying again.' } : null,
  });
};

/** Files of the commits that refer to the issue; null when none reached the default branch. */
async function filesOnDefaultBranch({ issue, checkout }: StepContext): Promise<string[] | null> {
  const pattern = `--grep=Refs #${issue.number}([^0-9]|$)`;
  const output = await checkout.git('log', '-E', pattern, '--format=', '--name-only', '-z', checkout.base);
  const names = output
    .split('\0')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 ? [...new Set(names)].sort() : null;
}
