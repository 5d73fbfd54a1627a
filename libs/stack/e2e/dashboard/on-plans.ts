import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ScriptedWorker, type Task } from './scripted-worker.ts';
import { labelsBecome, type Stage } from './stage.ts';

const PIPELINE = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));
const APPROVED = 'svc:ready-for-dev';
const REASON = 'the tests are missing';

/** Plans of a repo that requires an approval: one is approved, one rejected and its successor approved on the host. */
export async function answerPlans(stage: Stage): Promise<void> {
  const { operator, host, report } = stage;
  await requireApproval(stage);
  const planner = await ScriptedWorker.register(report.hosted, 'planner-of-the-operator', ['analyze', 'plan']);
  const approved = await analyzeAndPlan(planner);
  await waitsForAnswer(stage, approved, 1);
  await operator.press('Approve the plan');
  await operator.confirm();
  await labelsBecome(stage, 'an approved plan starts development', approved, (labels) => labels.includes(APPROVED));

  const rejected = await analyzeAndPlan(planner);
  await waitsForAnswer(stage, rejected, 1);
  await operator.press('Reject …');
  await operator.confirm({ reason: REASON });
  await labelsBecome(stage, 'a rejected plan is planned again', rejected, (labels) => labels.includes('svc:planning'));
  const again = await plan(planner);
  stage.checks.that('and the planner reads the reason', JSON.stringify(again).includes(REASON), again);
  await waitsForAnswer(stage, rejected, 2);
  await host.comment(rejected, '/approve-plan v2');
  await labelsBecome(stage, 'a comment approves it on the host', rejected, (labels) => labels.includes(APPROVED));
}

/** The command that operators use: the dashboard does not change workflows. */
const requireApproval = ({ env, report, host: { slug } }: Stage) =>
  promisify(execFile)(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      PIPELINE,
      ...['admin', 'workflow', 'plan-approval', slug, 'required', '--reason', 'plans are reviewed'],
    ],
    { env: { ...env, DATABASE_URL: report.database.url } },
  );

async function waitsForAnswer({ operator, host }: Stage, issue: number, version: number): Promise<void> {
  await operator.open(`/issues/${host.slug}/${issue}`, `#${issue}`);
  await operator.page.getByRole('region', { name: `Plan to approve, version ${version}` }).waitFor();
}

/** Takes the next issue to its first plan. @returns its number. */
async function analyzeAndPlan(worker: ScriptedWorker): Promise<number> {
  await worker.perform('analyze', () => ({ outcome: 'analyzed', result: {} }));
  return (await plan(worker)).issueNumber ?? 0;
}

/** Plans the only issue that is planned. */
const plan = (worker: ScriptedWorker): Promise<Task> =>
  worker.perform('plan', () => ({
    outcome: 'planned',
    result: { plan: '# Plan\n\n1. Read `totals.ts`', plannedFiles: ['totals.ts'] },
  }));
