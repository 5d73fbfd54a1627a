import type { StackReport } from '../../src/start/report.ts';
import type { Checks } from '../checks.ts';
import { poll } from '../poll.ts';
import type { Place } from '../stack-process.ts';
import type { HostView } from './host-view.ts';
import type { Operator } from './operator.ts';

export interface Stage extends Place {
  checks: Checks;
  operator: Operator;
  host: HostView;
  report: StackReport;
}

const WITHIN_MS = 30_000;

/** Waits for an effect. What does not come within half a minute is a failed check, and the others go on. */
export async function comes({ checks }: Stage, what: string, holds: () => Promise<boolean>): Promise<void> {
  const missing = await poll(what, holds, { withinMs: WITHIN_MS }).catch((error: Error) => error.message);
  checks.that(what, missing === undefined, missing ?? '');
}

/** Waits until the labels of an issue on the host are these. */
export const labelsBecome = (stage: Stage, what: string, issue: number, wanted: (labels: string[]) => boolean) =>
  comes(stage, what, async () => wanted((await stage.host.issue(issue)).labels));
