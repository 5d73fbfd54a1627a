import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../children/context.ts';

/** Packages of the pages that the services serve. */
const PACKAGES = ['services/monitor/web', 'services/hosted-api/web'];

/**
 * Builds the pages that the services serve, unless they were built from the current sources.
 * @throws Error when a build fails.
 */
export async function buildDashboards(signal: AbortSignal): Promise<void> {
  for (const folder of PACKAGES) {
    const script = join(ROOT, folder, 'scripts/build-main.ts');
    await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script, '--if-stale'], {
      signal,
    });
  }
}
