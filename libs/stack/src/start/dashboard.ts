import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../children/context.ts';

const SCRIPT = join(ROOT, 'services/monitor/web/scripts/build-main.ts');

/**
 * Builds the dashboard that the monitor serves, unless it was built from the current sources.
 * @throws Error when the build fails.
 */
export async function buildDashboard(signal: AbortSignal): Promise<void> {
  const argv = ['--disable-warning=ExperimentalWarning', SCRIPT, '--if-stale'];
  await promisify(execFile)(process.execPath, argv, { signal });
}
