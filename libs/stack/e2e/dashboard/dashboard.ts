import { join } from 'node:path';
import type { E2e } from '../journey.ts';
import { poll } from '../poll.ts';
import { clearUp, StackProcess } from '../stack-process.ts';
import { StoreView } from '../store-view.ts';
import { HostView } from './host-view.ts';
import { firstRunShows, showsChanges } from './live-pages.ts';
import { addRepo, findOrphan } from './on-configuration.ts';
import { retryDeadLetter } from './on-dead-letters.ts';
import { actOnIssues } from './on-issues.ts';
import { judgeKnowledge } from './on-knowledge.ts';
import { answerPlans } from './on-plans.ts';
import { makeTrack, writeCharter } from './on-tracks.ts';
import { actOnWorkers } from './on-workers.ts';
import { actOnWrites } from './on-writes.ts';
import { Operator } from './operator.ts';

const ISSUES = 12;
const WITHIN_MS = 60_000;

/** Actions and repairs of operators on every kind of thing that has one, pressed in a browser and seen over the API and on the host. */
export async function dashboard(e2e: E2e): Promise<void> {
  const { checks, dataDir } = e2e;
  const stack = new StackProcess(e2e, ['--json', '--no-demo']);
  let operator: Operator | undefined;
  try {
    const { report } = await stack.ready();
    const host = new HostView(report, await stack.state());
    operator = await Operator.begin(report.monitor);
    const stage = { checks, operator, host, report, dataDir, env: e2e.env };
    const missing = {
      Database: 'done',
      'Version-control host': 'done',
      Repository: 'done',
      Worker: 'missing',
    } as const;
    await firstRunShows(stage, 'the first run lacks a worker', missing);
    const issues: number[] = [];
    for (let n = 1; n <= ISSUES; n += 1) issues.push(await host.open(`Issue ${n} of the operator`));
    const store = new StoreView(report.database.url);
    const isTakenIn = async () => {
      const { projections, deliveries } = await store.open();
      const analyzing = (await store.issues()).filter(({ state }) => state === 'analyzing');
      return analyzing.length === ISSUES && projections + deliveries === 0;
    };
    await poll('all issues are analyzed, and the host shows it', isTakenIn, { withinMs: WITHIN_MS });
    await showsChanges(stage, issues.at(-1) ?? 0);
    await actOnIssues(stage, issues.slice(0, 6));
    await actOnWrites(stage, issues.slice(6, 8));
    await actOnWorkers(stage);
    await answerPlans(stage);
    await retryDeadLetter(stage);
    await judgeKnowledge(stage);
    await makeTrack(stage);
    await writeCharter(stage);
    await addRepo(stage);
    await findOrphan(stage);
    checks.equal('the browser has nothing to complain about', operator.takeComplaints(), []);
    const end = await stack.stop();
    checks.that('SIGTERM ends the stack', end.code === 0, end);
  } catch (error) {
    await operator?.page.screenshot({ path: join(dataDir, 'page.png') }).catch(() => undefined);
    throw error;
  } finally {
    await operator?.close();
    await clearUp(dataDir);
  }
}
